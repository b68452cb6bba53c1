"""The behaviour suite over every catalog type: one class each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinakes.core.catalog import SupportsBulkListing, SupportsDefaultNamespace
from pinakes.core.errors import InvalidArgument
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SPEC, VIEW, CatalogSuite
from tests.providers.memory import MemoryDatabase, MemoryStore


class SqlCatalogSuite(CatalogSuite):
    """What catalogs over a store have beyond the suite."""

    def test_everything_is_listed_in_one_call(self, catalog: StoreCatalog) -> None:
        assert isinstance(catalog, SupportsBulkListing)
        catalog.create_namespace(("a", "b"), {})
        catalog.create_table(("a", "b"), "t", SPEC)
        catalog.create_view(("sales",), "v", VIEW)
        assert catalog.list_everything() == [(("a", "b"), "t", "TABLE"), (("sales",), "v", "VIEW")]

    def test_it_has_no_default_namespace_of_its_own(self, catalog: StoreCatalog) -> None:
        assert not isinstance(catalog, SupportsDefaultNamespace)

    def test_a_level_with_a_dot_is_refused(self, catalog: StoreCatalog) -> None:
        with pytest.raises(InvalidArgument, match="has a dot in it"):
            catalog.create_namespace(("a.b",), {})
        assert not catalog.namespace_exists(("a.b",))

    def test_exists_is_hidden_and_reserved(self, catalog: StoreCatalog) -> None:
        assert "exists" not in catalog.load_namespace(("sales",))
        changes: list[Callable[[], None]] = [
            lambda: catalog.create_namespace(("x",), {"exists": "no"}),
            lambda: catalog.alter_namespace(("sales",), {"exists": "no"}, []),
            lambda: catalog.alter_namespace(("sales",), {}, ["exists"]),
        ]
        for change in changes:
            with pytest.raises(InvalidArgument, match="'exists' is reserved"):
                change()

    def test_a_property_set_and_removed_at_once(self, catalog: StoreCatalog) -> None:
        with pytest.raises(InvalidArgument, match="at once: k"):
            catalog.alter_namespace(("sales",), {"k": "v"}, ["k"])

    def test_tables_without_a_namespace(self, catalog: StoreCatalog) -> None:
        """Java writes such tables, so they are seen and can be made; they make no namespace."""
        catalog.create_table((), "rootless", SPEC)
        assert catalog.list_tables(()) == ["rootless"]
        assert catalog.list_namespaces() == [("sales",)]
        assert catalog.load_table((), "rootless").name == "rootless"
        catalog.drop_table((), "rootless", purge=True)

    def test_a_namespace_with_a_location(self, catalog: StoreCatalog, tmp_path: Path) -> None:
        catalog.create_namespace(("placed",), {"location": f"{tmp_path}/elsewhere/"})
        made = catalog.create_table(("placed",), "t", SPEC)
        assert made.handle.location().startswith(f"{tmp_path}/elsewhere/t-")


class TestSqlite(SqlCatalogSuite):
    @pytest.fixture
    def empty(self, tmp_path: Path) -> Iterator[SqliteCatalog]:
        catalog = SqliteCatalog.open("local", str(tmp_path / "lake"), {})
        yield catalog
        catalog.close()


class TestMemory(SqlCatalogSuite):
    """The toy store carries the whole catalog too: SqlCatalog leans on nothing but the contract."""

    @pytest.fixture
    def empty(self, tmp_path: Path) -> StoreCatalog:
        return StoreCatalog("memory", MemoryStore(MemoryDatabase(), "toy"), {"warehouse": str(tmp_path / "warehouse")})
