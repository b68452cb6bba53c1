"""DataFusion's view of our catalogs: providers that look each name up among the relations of the running plan.

`Bridge.reading` sets them for one plan, so mounted and detached catalogs are seen at once, without a new context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from datafusion import Table
from datafusion.catalog import CatalogProvider, CatalogProviderList, SchemaProvider

CURRENT = "$current"
"""DataFusion's default catalog and schema, which it puts in front of a name without them. This name cannot be mounted.
"""


class Readable(Protocol):
    """A relation: what a full name means."""

    @property
    def provider(self) -> Table: ...


Relations = Mapping[tuple[str, str, str], Readable]
Resolve = Callable[[str, str, str], Readable | None]
"""Finds the relation of a full name that is not among those given: None if there is none."""


class Bridge(CatalogProviderList):
    """The list of catalogs of one session's context."""

    def __init__(self) -> None:
        self._reading: tuple[Relations, Resolve | None] = {}, None

    @contextmanager
    def reading(self, relations: Relations, resolve: Resolve | None = None) -> Iterator[None]:
        """Names mean these relations within. Nested uses (views) restore the outer ones."""
        outer, self._reading = self._reading, (relations, resolve)
        try:
            yield
        finally:
            self._reading = outer

    def relation(self, catalog: str, schema: str, name: str) -> Table | None:
        relations, resolve = self._reading
        known = relations.get((catalog, schema, name))
        if known is None and resolve is not None:
            known = resolve(catalog, schema, name)
        return known.provider if known is not None else None

    def catalog_names(self) -> set[str]:
        return set()

    def catalog(self, name: str) -> CatalogProvider | None:
        return _Catalog(self, name)


class _Catalog(CatalogProvider):
    def __init__(self, bridge: Bridge, name: str) -> None:
        self._bridge, self._name = bridge, name

    def schema_names(self) -> set[str]:
        return set()

    def schema(self, name: str) -> SchemaProvider | None:  # type: ignore[override]  # a provider is what is wanted
        return _Schema(self._bridge, self._name, name)


class _Schema(SchemaProvider):
    def __init__(self, bridge: Bridge, catalog: str, name: str) -> None:
        self._bridge, self._catalog, self._name = bridge, catalog, name

    @property
    def table_names(self) -> list[str]:  # type: ignore[override]  # read as an attribute, whatever the base says
        return []

    def table(self, name: str) -> Table | None:
        return self._bridge.relation(self._catalog, self._name, name)

    def table_exist(self, name: str) -> bool:
        return True
