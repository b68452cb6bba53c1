"""flush_cache(name, [object]): a cache emptied, all of it or what it has of a table, a namespace or a catalog.

For whoever knows that something changed outside and does not want to wait for the time-to-live. It concerns everybody's
entries: who may, the guard decides (`engine/catalogs/authorization/rules.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.caches.flush import Target, flush, is_kept_by_file
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NamespaceNotFound, NotFoundError
from pinakes.engine.procedures.base import Parameter, Rows, RuntimeProcedure
from pinakes.parser.one_name import read_name

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import Found
    from pinakes.engine.session import Session
    from pinakes.engine.statement_context import Execution


def flush_cache(session: Session, name: str, written: str | None = None) -> int:
    """Empty the cache of this name, or `all`; how many entries went."""
    target = None if written is None else _target(session, written, with_files=is_kept_by_file(name))
    return flush(session.engine.caches, name, target)


def _target(session: Session, written: str, *, with_files: bool) -> Target:
    """The table or view that a name means, else the namespace or the catalog."""
    name, resolver = read_name(written), session.resolver
    is_catalog = len(name.parts) == 1 and session.catalogs.find(name.parts[0]) is not None
    found = None if is_catalog else resolver.maybe(name)
    if found is None:
        try:
            place = resolver.namespace(name)
        except NamespaceNotFound as error:
            missing = f"{written!r} is neither a table or view nor a namespace or catalog that there is"
            raise NamespaceNotFound(f"{missing}: flush the namespace that it was in, or all of the cache") from error
        return Target(str(place.mount.mount.id), None if is_catalog else place.namespace)
    location = _location(session, found) if with_files else None
    return Target(str(found.place.mount.mount.id), found.place.namespace, found.name, location)


def _location(session: Session, found: Found) -> str | None:
    """The directory of a table; None of a view, and of a table that is listed but is no more."""
    try:
        loaded = session.resolver.load(found)
    except NotFoundError:
        return None
    return loaded.handle.location() if isinstance(loaded, IcebergTable) else None


def _run(execution: Execution, arguments: dict[str, Any]) -> Rows:
    return [(flush_cache(execution.session, arguments["name"], arguments.get("object")),)]


PROCEDURE = RuntimeProcedure(
    "flush_cache",
    (Parameter("name", "text", required=True), Parameter("object", "text")),
    pa.schema([("flushed_entries", pa.int64())]),
    _run,
)
