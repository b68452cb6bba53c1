"""The namespaces of a catalog that a request may want: those that it names, or all of them.

All are found in one call if the catalog can do that, else level by level and within a bound.
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
from pinakes.system_tables.calls import Call, Question, ask
from pinakes.system_tables.catalog_executor import WIDTH, ahead
from pinakes.system_tables.context import MountedCatalog, World

MOST_LEVELS = 16
MOST_NAMESPACES = 100_000
"""Where the search ends: no catalog of people's has more, but one that lists a namespace within itself would."""
FEW = 8
"""Schemas that are asked for one by one where one call could tell of all: of large catalogs that is a slow one."""


def namespaces_of(request: Request, mount: MountedCatalog, catalog: Catalog, *, check: bool) -> Iterator[Namespace]:
    """The namespaces of a catalog that may be wanted. Those that a condition names are only looked for if `check`:
    else whoever lists what is in them will find out."""
    given = named_schemas(request, can_tell_all=isinstance(catalog, SupportsAllNamespaces))
    if given is not None:
        yield from _named(request, mount, catalog, sorted(given), check)
        return
    if _may_be_root(catalog):
        yield from _named(request, mount, catalog, [""], check)
    if isinstance(catalog, SupportsNamespaces):
        yield from _kept(request, mount, _every(request, mount, catalog))


def named_schemas(request: Request, *, can_tell_all: bool) -> frozenset[str] | None:
    """The schemas to ask for by their names; None when none is named, or so many that it is better to ask for all."""
    given = request.wanted.values("schema")
    return None if given is None or (can_tell_all and len(given) > FEW) else given


def _named(
    request: Request, mount: MountedCatalog, catalog: Catalog, names: list[str], check: bool
) -> Iterator[Namespace]:
    wanted = [name for name in names if request.wanted.may({"catalog": mount.name, "schema": name})]
    found = [n for n in map(_namespace_of, wanted) if n is not None and (n or _may_be_root(catalog))]
    if not check:
        yield from found
        return
    for namespace, asked in ahead(found, lambda n: _look_for(request, mount, catalog, n), window_of(request)):
        if asked is not None and asked.answer(False):
            yield namespace


def _look_for(request: Request, mount: MountedCatalog, catalog: Catalog, namespace: Namespace) -> Call[Any] | None:
    """Asks whether it is there; the empty namespace is when something is in it."""
    if not namespace and isinstance(catalog, SupportsTables):
        return ask(request.world, mount, Question("list the tables"), catalog.list_tables, ())
    if not isinstance(catalog, SupportsNamespaces):
        return None
    question = Question("look for the namespace", dotted(namespace))
    return ask(request.world, mount, question, catalog.namespace_exists, namespace)


def _may_be_root(catalog: Catalog) -> bool:
    """Whether tables may be in no namespace at all."""
    return isinstance(catalog, SupportsRootTables) or not isinstance(catalog, SupportsNamespaces)


def _namespace_of(name: str) -> Namespace | None:
    """The namespace that prints so; None when none can."""
    try:
        namespace = undotted(name) if name else ()
    except InvalidArgument:
        return None
    return namespace if dotted(namespace) == name and all(namespace) and name != INFORMATION_SCHEMA else None


def _every(request: Request, mount: MountedCatalog, catalog: SupportsNamespaces) -> Iterator[Namespace]:
    if isinstance(catalog, SupportsAllNamespaces):
        yield from ask(request.world, mount, Question("list the namespaces"), catalog.list_all_namespaces).answer([])
    else:
        yield from walk(request, mount, catalog)


def _kept(request: Request, mount: MountedCatalog, found: Iterator[Namespace]) -> Iterator[Namespace]:
    for namespace in found:
        schema = dotted(namespace)
        if schema != INFORMATION_SCHEMA and request.wanted.may({"catalog": mount.name, "schema": schema}):
            yield namespace


def window_of(request: Request) -> int:
    """How far to ask ahead: not far when a few rows are enough."""
    return 2 * WIDTH if request.limit is None else 1


# --- level by level ----------------------------------------------------------------------------------------------


def walk(request: Request, mount: MountedCatalog, catalog: SupportsNamespaces) -> Iterator[Namespace]:
    """All levels, the upper ones first. Who takes only some of them asks for no level below these; nor is what lies
    within a namespace asked for when no name that begins so can be wanted."""
    world = request.world
    level = _children(world, mount, catalog, ()).answer([])
    found = 0
    while level:
        found += len(level)
        yield from level
        if len(level[0]) >= MOST_LEVELS or found > MOST_NAMESPACES:
            _too_many(world, mount)
            return
        upper = [namespace for namespace in level if request.wanted.reaches("schema", f"{dotted(namespace)}.")]
        asked = ahead(upper, lambda namespace: _children(world, mount, catalog, namespace), window_of(request))
        level = [child for parent, listed in asked for child in listed.answer([]) if len(child) == len(parent) + 1]


def _children(
    world: World, mount: MountedCatalog, catalog: SupportsNamespaces, parent: Namespace
) -> Call[list[Namespace]]:
    question = Question("list the namespaces", dotted(parent) or None)
    return ask(world, mount, question, catalog.list_namespaces, parent)


def _too_many(world: World, mount: MountedCatalog) -> None:
    def say() -> None:
        raise InvalidArgument(
            f"catalog '{mount.name}' has namespaces deeper than {MOST_LEVELS} levels, or more than {MOST_NAMESPACES}: "
            f"not all were looked at. Name the schema that you want."
        )

    ask(world, mount, Question("list the namespaces"), say).answer(None)
