"""DataFusion's view of our catalogs: providers that resolve each name through the running planner.

`Bridge.planning` sets the planner, so mounted and detached catalogs are seen at once, without a new context.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from datafusion import Table
from datafusion.catalog import CatalogProvider, CatalogProviderList, SchemaProvider

CURRENT = "$current"
"""DataFusion's default catalog and schema, which it puts in front of a name without them. This name cannot be mounted.
"""


class Planning(Protocol):
    """A planner: returns the relation of a full name, or None, or raises an error of ours."""

    def relation(self, catalog: str, schema: str, name: str) -> Table | None: ...


class Bridge(CatalogProviderList):
    """The list of catalogs of one session's context."""

    def __init__(self) -> None:
        self._planning: Planning | None = None

    @contextmanager
    def planning(self, planning: Planning) -> Iterator[None]:
        """Names are answered by `planning` within. Nested uses (views) restore the outer one."""
        outer, self._planning = self._planning, planning
        try:
            yield
        finally:
            self._planning = outer

    def relation(self, catalog: str, schema: str, name: str) -> Table | None:
        return self._planning.relation(catalog, schema, name) if self._planning is not None else None

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
