"""flush_cache(name, [object]): empties a cache, or removes its entries of a table, a namespace or a catalog.

For use after a change outside of the engine, instead of waiting for the time-to-live. It affects the entries of all
users; the guard checks the privilege (`engine/catalogs/authorization/rules.py`).
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
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.session import Session
    from pinakes.engine.statement_context import Execution


def flush_cache(session: Session, name: str, written: str | None = None) -> int:
    """Empties the cache of this name, or `all`; returns the number of removed entries."""
    target = None if written is None else _target(session, written, with_files=is_kept_by_file(name))
    return flush(session.engine.caches, name, target)


def _target(session: Session, written: str, *, with_files: bool) -> Target:
    """Returns the table or view that a name refers to, or else the namespace or catalog."""
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


def _location(session: Session, found: ResolvedTable) -> str | None:
    """Returns the location of a table; None for a view, and for a listed table that no longer exists."""
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
