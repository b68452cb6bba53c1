"""Lists the namespaces of a catalog that a request may match: those that it names, or all of them.

All are listed in one call if the catalog supports that, otherwise level by level and within a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinakes.core.catalog import (
    Catalog,
    SupportsAllNamespaces,
    SupportsNamespaces,
    SupportsRootTables,
    SupportsTables,
)
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import INFORMATION_SCHEMA, Namespace, dotted, undotted
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.calls import Call, Question, start_call
from pinakes.system_tables.catalog_metadata.executor import WIDTH, submit_ahead
from pinakes.system_tables.context import MountedCatalog, SystemContext

MOST_LEVELS = 16
MOST_NAMESPACES = 100_000
"""The limits of the search: no real catalog has more, but one that lists a namespace within itself would be endless."""
FEW = 8
"""The maximum number of schemas that are looked up individually if one call can list all: that call is slow for large
catalogs.
"""


def list_namespaces(request: Request, mount: MountedCatalog, catalog: Catalog, *, check: bool) -> Iterator[Namespace]:
    """Yields the namespaces of a catalog that may match. The existence of those that the predicate names is verified
    only with `check`: otherwise listing their contents shows it.
    """
    given = named_schemas(request, is_listing=isinstance(catalog, SupportsAllNamespaces))
    if given is not None:
        yield from _find_named(request, mount, catalog, sorted(given), check)
        return
    if _may_be_root(catalog):
        yield from _find_named(request, mount, catalog, [""], check)
    if isinstance(catalog, SupportsNamespaces):
        yield from _select(request, mount, _list_all(request, mount, catalog))


def named_schemas(request: Request, *, is_listing: bool) -> frozenset[str] | None:
    """Returns the schemas to look up by name; None if none is named, or so many that listing all is better."""
    given = request.wanted.values("schema")
    return None if given is None or (is_listing and len(given) > FEW) else given


def _find_named(
    request: Request, mount: MountedCatalog, catalog: Catalog, names: list[str], check: bool
) -> Iterator[Namespace]:
    wanted = [name for name in names if request.wanted.may({"catalog": mount.name, "schema": name})]
    found = [n for n in map(_namespace_of, wanted) if n is not None and (n or _may_be_root(catalog))]
    if not check:
        yield from found
        return
    for namespace, call in submit_ahead(found, lambda n: _start_lookup(request, mount, catalog, n), window_of(request)):
        if call is not None and call.answer(False):
            yield namespace


def _start_lookup(request: Request, mount: MountedCatalog, catalog: Catalog, namespace: Namespace) -> Call[Any] | None:
    """Checks whether a namespace exists; the empty namespace does if it contains tables."""
    if not namespace and isinstance(catalog, SupportsTables):
        return start_call(request.context, mount, Question("list the tables"), catalog.list_tables, ())
    if not isinstance(catalog, SupportsNamespaces):
        return None
    question = Question("look for the namespace", dotted(namespace))
    return start_call(request.context, mount, question, catalog.namespace_exists, namespace)


def _may_be_root(catalog: Catalog) -> bool:
    """Whether tables may be outside any namespace."""
    return isinstance(catalog, SupportsRootTables) or not isinstance(catalog, SupportsNamespaces)


def _namespace_of(name: str) -> Namespace | None:
    """Returns the namespace with this text; None if there can be none."""
    try:
        namespace = undotted(name) if name else ()
    except InvalidArgument:
        return None
    return namespace if dotted(namespace) == name and all(namespace) and name != INFORMATION_SCHEMA else None


def _list_all(request: Request, mount: MountedCatalog, catalog: SupportsNamespaces) -> Iterator[Namespace]:
    if isinstance(catalog, SupportsAllNamespaces):
        yield from start_call(
            request.context, mount, Question("list the namespaces"), catalog.list_all_namespaces
        ).answer([])
    else:
        yield from walk(request, mount, catalog)


def _select(request: Request, mount: MountedCatalog, found: Iterator[Namespace]) -> Iterator[Namespace]:
    for namespace in found:
        schema = dotted(namespace)
        if schema != INFORMATION_SCHEMA and request.wanted.may({"catalog": mount.name, "schema": schema}):
            yield namespace


def window_of(request: Request) -> int:
    """Returns how many calls to make ahead: few when there is a limit."""
    return 2 * WIDTH if request.limit is None else 1


# --- level by level --------------------------------------------------------------------------------------------------


def walk(request: Request, mount: MountedCatalog, catalog: SupportsNamespaces) -> Iterator[Namespace]:
    """Yields the namespaces of all levels, upper ones first. It is lazy: deeper levels are listed only when they are
    consumed, and the children of a namespace only if a name with its prefix can match.
    """
    context = request.context
    level = _children(context, mount, catalog, ()).answer([])
    found = 0
    while level:
        found += len(level)
        yield from level
        if len(level[0]) >= MOST_LEVELS or found > MOST_NAMESPACES:
            _warn_too_many(context, mount)
            return
        upper = [namespace for namespace in level if request.wanted.reaches("schema", f"{dotted(namespace)}.")]
        call = submit_ahead(upper, lambda namespace: _children(context, mount, catalog, namespace), window_of(request))
        level = [child for parent, listed in call for child in listed.answer([]) if len(child) == len(parent) + 1]


def _children(
    context: SystemContext, mount: MountedCatalog, catalog: SupportsNamespaces, parent: Namespace
) -> Call[list[Namespace]]:
    question = Question("list the namespaces", dotted(parent) or None)
    return start_call(context, mount, question, catalog.list_namespaces, parent)


def _warn_too_many(context: SystemContext, mount: MountedCatalog) -> None:
    def say() -> None:
        raise InvalidArgument(
            f"catalog '{mount.name}' has namespaces deeper than {MOST_LEVELS} levels, or more than {MOST_NAMESPACES}: "
            f"not all were looked at. Name the schema that you want."
        )

    start_call(context, mount, Question("list the namespaces"), say).answer(None)
