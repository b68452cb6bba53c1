"""Loads the metadata of tables and views, several at a time, in order, and no further than needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from pinakes.caches.caching_catalog import peek_cached
from pinakes.core.catalog import SupportsNamespaces, Table, ViewDefinition
from pinakes.core.errors import InternalError
from pinakes.core.names import Namespace
from pinakes.system_tables import registry
from pinakes.system_tables.base import Request
from pinakes.system_tables.catalog_metadata.calls import Call, CatalogLost, Question, start_call
from pinakes.system_tables.catalog_metadata.executor import submit_ahead
from pinakes.system_tables.catalog_metadata.listing import EVERY_KIND, Entry, Kind, Space, list_objects, list_spaces
from pinakes.system_tables.catalog_metadata.namespaces import window_of

Loaded = Table | ViewDefinition


class Described(NamedTuple):
    """A table or view with its metadata."""

    entry: Entry
    loaded: Loaded

    @property
    def catalog(self) -> str:
        return self.entry.catalog

    @property
    def schema(self) -> str:
        return self.entry.schema

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def kind(self) -> Kind:
        return self.entry.kind


def load_objects(request: Request, kinds: Collection[Kind] = EVERY_KIND) -> Iterator[Described]:
    """Yields the loaded objects of `objects`. Objects that can't be loaded are skipped, and reported in
    system.metadata.errors.
    """
    lost: set[str] = set()
    for entry, call in submit_ahead(
        list_objects(request, kinds), lambda entry: start_loading(request, entry), window_of(request)
    ):
        found = finish_loading(entry, call, lost)
        if found is not None:
            yield Described(entry, found)


def start_loading(request: Request, entry: Entry) -> Call[Any] | Loaded:
    """Requests the metadata of a table or view; `answered` waits for it."""
    if entry.kind == "SYSTEM":
        return registry.virtual(entry.schema, entry.name, entry.catalog)
    question = Question("load the view" if entry.kind == "VIEW" else "load the table", entry.schema, entry.name)
    return start_call(request.context, entry.mount, question, _loader(entry), entry.namespace, entry.name)


def peek_loaded(entry: Entry) -> Loaded | None:
    """Returns the metadata if it is cached; no catalog is called."""
    if entry.kind == "SYSTEM":
        return registry.virtual(entry.schema, entry.name, entry.catalog)
    return peek_cached(_loader(entry), entry.namespace, entry.name)


def _loader(entry: Entry) -> Callable[[Namespace, str], Loaded]:
    """Returns the method that loads an object. A catalog that lists views can load views; checking the protocol for
    each one would take longer than everything else for a cached table.
    """
    method = getattr(entry.mount.catalog, "load_view" if entry.kind == "VIEW" else "load_table", None)
    if method is None:
        raise InternalError(f"catalog '{entry.catalog}' listed a {entry.kind} and can't load one")
    found: Callable[[Namespace, str], Loaded] = method
    return found


def finish_loading(entry: Entry, call: Call[Any] | Loaded, lost: set[str]) -> Loaded | None:
    """Returns the loaded object, or None; `lost` are the catalogs that no longer respond."""
    if not isinstance(call, Call):
        return call
    if entry.catalog in lost:
        return None
    try:
        found: Loaded | None = call.answer(None)
    except CatalogLost:
        lost.add(entry.catalog)
        return None
    return found


def names_or_loaded(request: Request, loads: bool, kinds: Collection[Kind] = EVERY_KIND) -> Iterable[Described | Entry]:
    """Returns loaded tables if the query reads a column that needs them, else names."""
    return load_objects(request, kinds) if loads else list_objects(request, kinds)


def load_spaces(request: Request) -> Iterator[tuple[Space, dict[str, str]]]:
    """Yields the schemas with their properties; those of system tables have none."""
    for space, call in submit_ahead(
        list_spaces(request, system=False), lambda s: _submit_space(request, s), window_of(request)
    ):
        if call is not None:
            yield space, call.answer({})


def _submit_space(request: Request, space: Space) -> Call[dict[str, str]] | None:
    catalog = space.mount.catalog
    if not space.namespace or not isinstance(catalog, SupportsNamespaces):
        return None
    question = Question("load the namespace", space.schema)
    return start_call(request.context, space.mount, question, catalog.load_namespace, space.namespace)
