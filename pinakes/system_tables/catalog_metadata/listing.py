"""Lists the catalogs, namespaces, tables and views that a request may match, with as few calls as possible.

A catalog that the predicate excludes is not called at all. A schema that it names is looked up directly; otherwise the
namespaces are listed (`namespaces.py`). A catalog with bulk listing is listed in one call when all of it is needed.
Every catalog also contains `information_schema`, which costs nothing to list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, TypeVar

from pinakes.core.catalog import Catalog, SupportsBulkListing, SupportsTables, SupportsViews
from pinakes.core.names import INFORMATION_SCHEMA, Namespace, dotted
from pinakes.system_tables import registry
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.calls import Call, CatalogLost, Question, start_call
from pinakes.system_tables.catalog_metadata.executor import submit_ahead
from pinakes.system_tables.catalog_metadata.namespaces import list_namespaces, named_schemas, window_of
from pinakes.system_tables.context import MountedCatalog
from pinakes.system_tables.name_predicates import Known

T = TypeVar("T")

Kind = Literal["TABLE", "VIEW", "SYSTEM"]
EVERY_KIND: frozenset[Kind] = frozenset({"TABLE", "VIEW", "SYSTEM"})
STORED: frozenset[Kind] = frozenset({"TABLE", "VIEW"})
"""The kinds that a catalog itself stores."""


class Space(NamedTuple):
    """A namespace of a catalog."""

    mount: MountedCatalog
    catalog: str
    namespace: Namespace
    schema: str
    """The namespace as text."""
    is_system: bool = False


class Run(NamedTuple):
    """The names of the tables or the views of a namespace."""

    space: Space
    kind: Kind
    names: Sequence[str]


class Entry(NamedTuple):
    """A table or view."""

    mount: MountedCatalog
    catalog: str
    namespace: Namespace
    schema: str
    name: str
    kind: Kind


def list_catalogs(request: Request) -> list[MountedCatalog]:
    """Returns the catalogs that may match."""
    return [mount for mount in request.context.mounts if request.wanted.may({"catalog": mount.name})]


def list_spaces(request: Request, *, system: bool = True) -> Iterator[Space]:
    """Yields the namespaces that may match, including those of system tables."""
    return per_catalog(request, lambda mount: _spaces_of(request, mount, system))


def list_objects(request: Request, kinds: Collection[Kind] = EVERY_KIND) -> Iterator[Entry]:
    """Yields the tables and views that may match: names only, nothing is loaded."""
    for (mount, catalog, namespace, schema, _), kind, names in list_runs(request, kinds):
        for name in names:
            yield Entry(mount, catalog, namespace, schema, name, kind)


def list_runs(request: Request, kinds: Collection[Kind] = EVERY_KIND) -> Iterator[Run]:
    """Yields the same, with all names of a namespace together."""
    return per_catalog(request, lambda mount: _runs_of(request, mount, kinds))


def kinds_of(request: Request, types: Mapping[Kind, str]) -> frozenset[Kind]:
    """Returns the kinds that may match, for a column with these values; other kinds are not listed."""
    return frozenset(kind for kind, name in types.items() if request.wanted.may({"kind": name}))


def per_catalog(request: Request, produce: Callable[[MountedCatalog], Iterator[T]]) -> Iterator[T]:
    """Yields the results of each catalog, in the order of the catalogs: all catalogs concurrently, unless there is a
    limit. A catalog that no longer responds is skipped from there on.
    """
    mounts = list_catalogs(request)
    if len(mounts) == 1 or request.limit is not None:
        for mount in mounts:
            yield from _until_lost(produce(mount))
        return
    context = request.context
    jobs = [
        context.executor.submit(
            ("all of", mount.executor_key),
            lambda mount=mount: list(_until_lost(produce(mount))),  # type: ignore[misc]
        )
        for mount in mounts
    ]
    for job in jobs:
        yield from job.result(float("inf"), context.check)


def open_catalog(request: Request, mount: MountedCatalog) -> Catalog:
    """Returns the catalog itself; raises CatalogLost if it can't be opened."""
    if mount.is_open:
        return mount.catalog
    call: Call[Catalog | None] = start_call(request.context, mount, Question("open it"), lambda: mount.catalog)
    catalog = call.answer(None)
    if catalog is None:
        raise CatalogLost
    return catalog


def _until_lost(produced: Iterator[T]) -> Iterator[T]:
    try:
        yield from produced
    except CatalogLost:
        return


def _spaces_of(request: Request, mount: MountedCatalog, system: bool) -> Iterator[Space]:
    if system:
        yield from _system_spaces(request, mount)
    if mount.is_system:
        return
    for namespace in list_namespaces(request, mount, open_catalog(request, mount), check=True):
        yield Space(mount, mount.name, namespace, dotted(namespace))


def _system_spaces(request: Request, mount: MountedCatalog) -> Iterator[Space]:
    schemas = registry.SCHEMAS if mount.is_system else (INFORMATION_SCHEMA,)
    for schema in schemas:
        if request.wanted.may({"catalog": mount.name, "schema": schema}):
            yield Space(mount, mount.name, (schema,), schema, is_system=True)


# --- tables and views --------------------------------------------------------------------------------------------


def _runs_of(request: Request, mount: MountedCatalog, kinds: Collection[Kind]) -> Iterator[Run]:
    if "SYSTEM" in kinds:
        for space in _system_spaces(request, mount):
            yield _select(request, space, "SYSTEM", registry.names(space.schema))
    if mount.is_system or not STORED & set(kinds):
        return
    catalog = open_catalog(request, mount)
    if isinstance(catalog, SupportsBulkListing) and named_schemas(request, is_listing=True) is None:
        yield from _in_bulk(request, mount, catalog, kinds)
        return
    submit = _lister(request, mount, catalog, kinds)
    for namespace, call in submit_ahead(
        list_namespaces(request, mount, catalog, check=False), submit, window_of(request)
    ):
        space = Space(mount, mount.name, namespace, dotted(namespace))
        for kind, listed in call:
            yield _select(request, space, kind, sorted(listed.answer([])))


def _in_bulk(
    request: Request, mount: MountedCatalog, catalog: SupportsBulkListing, kinds: Collection[Kind]
) -> Iterator[Run]:
    listed = start_call(request.context, mount, Question("list all tables and views"), catalog.list_everything).answer(
        ()
    )
    for namespace, found in groupby(sorted(listed), key=itemgetter(0)):
        space = Space(mount, mount.name, namespace, dotted(namespace))
        if request.wanted.may({"catalog": space.catalog, "schema": space.schema}):
            rows = list(found)
            for kind in sorted(STORED & set(kinds)):
                yield _select(request, space, kind, [name for _, name, k in rows if k == kind])


def _lister(
    request: Request, mount: MountedCatalog, catalog: Catalog, kinds: Collection[Kind]
) -> Callable[[Namespace], list[tuple[Kind, Call[list[str]]]]]:
    """Returns a function that lists the names in a namespace: one call per kind that the catalog has and the query
    needs.
    """

    methods: list[tuple[Kind, str, Callable[[Namespace], list[str]]]] = []
    if "TABLE" in kinds and isinstance(catalog, SupportsTables):
        methods.append(("TABLE", "list the tables", catalog.list_tables))
    if "VIEW" in kinds and isinstance(catalog, SupportsViews):
        methods.append(("VIEW", "list the views", catalog.list_views))

    def submit(namespace: Namespace) -> list[tuple[Kind, Call[list[str]]]]:
        schema = dotted(namespace)
        return [
            (kind, start_call(request.context, mount, Question(words, schema), method, namespace))
            for kind, words, method in methods
        ]

    return submit


def _select(request: Request, space: Space, kind: Kind, names: Sequence[str]) -> Run:
    """Returns the tables or views of one schema whose names may match."""
    if request.wanted.concerns("table"):
        known: Known = {"catalog": space.catalog, "schema": space.schema}
        names = [name for name in names if request.wanted.may({**known, "table": name})]
    return Run(space, kind, names)
