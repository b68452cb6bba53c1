"""How every catalog of Iceberg tables behaves, through the interface of `core/catalog.py` alone.

Subclass it, give it an `empty` fixture, and inherit every test.
"""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import pyarrow as pa
import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import LongType, NestedField, StringType

from pinakes.core.catalog import (
    IcebergTable,
    SupportsNamespaces,
    SupportsTableChanges,
    SupportsViews,
    TableSpec,
    ViewDefinition,
)
from pinakes.core.errors import (
    CommitConflict,
    InvalidArgument,
    NamespaceExists,
    NamespaceNotEmpty,
    NamespaceNotFound,
    PinakesError,
    TableExists,
    TableNotFound,
    ViewExists,
    ViewNotFound,
)
from pinakes.providers.iceberg.adapter import translate_errors

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "word", StringType(), required=False))
SPEC = TableSpec(SCHEMA, UNPARTITIONED_PARTITION_SPEC)
VIEW = ViewDefinition("SELECT id FROM t", "lake", ("sales",), SCHEMA)
ODD_NAMES = ["käse", "two words", 'q"uote', "it's", "per%cent", "sla/sh", "日本語", "UPPER", "hash#tag", "que?ry", ".."]


class FullCatalog(SupportsNamespaces, SupportsTableChanges, SupportsViews, Protocol):
    """The groups that the suite asks for."""


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "word": [f"w{i}" for i in ids]})


def ids_in(table: object) -> list[int]:
    assert isinstance(table, IcebergTable)
    ids: list[int] = sorted(table.handle.scan().to_arrow()["id"].to_pylist())
    return ids


class CatalogSuite:
    @pytest.fixture
    def empty(self) -> FullCatalog:
        raise NotImplementedError("a subclass says which catalog")

    @pytest.fixture
    def catalog(self, empty: FullCatalog) -> FullCatalog:
        """With one namespace."""
        empty.create_namespace(("sales",), {})
        return empty

    def test_it_has_the_groups(self, catalog: FullCatalog) -> None:
        assert isinstance(catalog, SupportsNamespaces)
        assert isinstance(catalog, SupportsTableChanges)
        assert isinstance(catalog, SupportsViews)
        catalog.check()

    # --- namespaces ----------------------------------------------------------------------------------------------

    def test_namespaces(self, empty: FullCatalog) -> None:
        assert empty.list_namespaces() == []
        empty.create_namespace(("b",), {"comment": "two", "owner": "ann"})
        empty.create_namespace(("a",), {})
        assert empty.list_namespaces() == [("a",), ("b",)]
        assert empty.load_namespace(("b",)) == {"comment": "two", "owner": "ann"}
        assert empty.load_namespace(("a",)) == {}
        empty.drop_namespace(("b",))
        assert empty.list_namespaces() == [("a",)]
        assert not empty.namespace_exists(("b",))

    def test_namespaces_nest_and_are_listed_level_by_level(self, empty: FullCatalog) -> None:
        empty.create_namespace(("a", "b", "c"), {})
        empty.create_namespace(("a", "x"), {})
        empty.create_namespace(("ab",), {})
        assert empty.list_namespaces() == [("a",), ("ab",)]
        assert empty.list_namespaces(("a",)) == [("a", "b"), ("a", "x")]
        assert empty.list_namespaces(("a", "b")) == [("a", "b", "c")]
        assert empty.list_namespaces(("a", "b", "c")) == []
        assert empty.namespace_exists(("a",))
        assert empty.load_namespace(("a",)) == {}

    def test_namespace_properties_change(self, empty: FullCatalog) -> None:
        empty.create_namespace(("a",), {"k": "v", "gone": "soon"})
        empty.alter_namespace(("a",), {"k": "w", "new": "1"}, ["gone", "never"])
        assert empty.load_namespace(("a",)) == {"k": "w", "new": "1"}

    def test_a_namespace_outlives_its_last_property(self, empty: FullCatalog) -> None:
        empty.create_namespace(("a",), {"k": "v"})
        empty.alter_namespace(("a",), {}, ["k"])
        assert empty.load_namespace(("a",)) == {}
        assert empty.list_namespaces() == [("a",)]

    def test_a_namespace_that_is_there_already(self, catalog: FullCatalog) -> None:
        with pytest.raises(NamespaceExists, match="namespace sales already exists"):
            catalog.create_namespace(("sales",), {"k": "v"})
        assert catalog.load_namespace(("sales",)) == {}

    def test_a_namespace_that_is_not_there(self, catalog: FullCatalog) -> None:
        gone = ("sales", "gone")
        assert not catalog.namespace_exists(gone)
        for ask in (
            lambda: catalog.list_namespaces(gone),
            lambda: catalog.list_tables(gone),
            lambda: catalog.list_views(gone),
            lambda: catalog.load_namespace(gone),
            lambda: catalog.drop_namespace(gone),
            lambda: catalog.alter_namespace(gone, {"k": "v"}, []),
            lambda: catalog.create_table(gone, "t", SPEC),
            lambda: catalog.begin_create_table(gone, "t", SPEC),
            lambda: catalog.create_view(gone, "v", VIEW),
        ):
            with pytest.raises(NamespaceNotFound, match=r"namespace sales\.gone does not exist"):
                ask()

    def test_a_namespace_with_something_in_it_stays(self, catalog: FullCatalog) -> None:
        catalog.create_table(("sales",), "t", SPEC)
        catalog.create_namespace(("outer", "inner"), {})
        catalog.create_namespace(("views",), {})
        catalog.create_view(("views",), "v", VIEW)
        for namespace in (("sales",), ("outer",), ("views",)):
            with pytest.raises(NamespaceNotEmpty, match=f"namespace {namespace[0]} is not empty"):
                catalog.drop_namespace(namespace)
            assert catalog.namespace_exists(namespace)
        catalog.drop_table(("sales",), "t")
        catalog.drop_namespace(("sales",))
        assert not catalog.namespace_exists(("sales",))

    def test_the_empty_namespace_can_not_be_made_or_dropped(self, catalog: FullCatalog) -> None:
        with pytest.raises(InvalidArgument, match="can't be created"):
            catalog.create_namespace((), {})
        with pytest.raises(InvalidArgument, match="can't be dropped"):
            catalog.drop_namespace(())

    @pytest.mark.parametrize("namespace", [("",), ("a", ""), ("",) * 3])
    def test_an_empty_level_is_refused(self, catalog: FullCatalog, namespace: tuple[str, ...]) -> None:
        with pytest.raises(InvalidArgument, match="empty level"):
            catalog.create_namespace(namespace, {})
        assert not catalog.namespace_exists(namespace)

    @pytest.mark.parametrize("level", [name for name in ODD_NAMES if "." not in name])
    def test_odd_names_of_namespaces(self, catalog: FullCatalog, level: str) -> None:
        catalog.create_namespace((level, level), {"k": level})
        catalog.create_table((level, level), "t", SPEC)
        assert catalog.list_namespaces((level,)) == [(level, level)]
        assert catalog.load_namespace((level, level)) == {"k": level}
        assert catalog.list_tables((level, level)) == ["t"]

    # --- tables --------------------------------------------------------------------------------------------------

    def test_tables(self, catalog: FullCatalog) -> None:
        made = catalog.create_table(("sales",), "orders", dataclasses.replace(SPEC, properties={"k": "v"}))
        assert isinstance(made, IcebergTable)
        assert (made.namespace, made.name) == (("sales",), "orders")
        catalog.create_table(("sales",), "customers", SPEC)
        assert catalog.list_tables(("sales",)) == ["customers", "orders"]
        loaded = catalog.load_table(("sales",), "orders")
        assert isinstance(loaded, IcebergTable)
        assert loaded.handle.schema().as_struct() == SCHEMA.as_struct()
        assert loaded.handle.properties["k"] == "v"
        assert ids_in(loaded) == []
        catalog.drop_table(("sales",), "orders")
        assert catalog.list_tables(("sales",)) == ["customers"]

    def test_rows_come_back(self, catalog: FullCatalog) -> None:
        made = catalog.create_table(("sales",), "orders", SPEC)
        made.handle.append(rows(1, 2))
        made.handle.append(rows(3))
        assert ids_in(catalog.load_table(("sales",), "orders")) == [1, 2, 3]

    def test_a_partitioned_table(self, catalog: FullCatalog) -> None:
        by_id = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "id_bucket"))
        made = catalog.create_table(("sales",), "orders", TableSpec(SCHEMA, by_id))
        made.handle.append(rows(*range(20)))
        loaded = catalog.load_table(("sales",), "orders")
        assert isinstance(loaded, IcebergTable)
        assert [field.name for field in loaded.handle.spec().fields] == ["id_bucket"]
        assert ids_in(loaded) == list(range(20))

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_odd_names_of_tables(self, catalog: FullCatalog, name: str) -> None:
        catalog.create_table(("sales",), name, SPEC).handle.append(rows(1))
        assert catalog.list_tables(("sales",)) == [name]
        assert ids_in(catalog.load_table(("sales",), name)) == [1]
        catalog.rename_table((("sales",), name), (("sales",), "plain"))
        catalog.drop_table(("sales",), "plain", purge=True)

    def test_tables_of_one_name_in_several_namespaces(self, catalog: FullCatalog) -> None:
        catalog.create_namespace(("sales", "eu"), {})
        catalog.create_table(("sales",), "t", SPEC).handle.append(rows(1))
        catalog.create_table(("sales", "eu"), "t", SPEC).handle.append(rows(2))
        assert ids_in(catalog.load_table(("sales",), "t")) == [1]
        assert ids_in(catalog.load_table(("sales", "eu"), "t")) == [2]
        assert catalog.list_tables(("sales",)) == ["t"]

    def test_a_table_that_is_there_already(self, catalog: FullCatalog) -> None:
        catalog.create_table(("sales",), "t", SPEC).handle.append(rows(1))
        for create in (catalog.create_table, catalog.begin_create_table):
            with pytest.raises(TableExists, match=r"a table named sales\.t already exists"):
                create(("sales",), "t", SPEC)
        assert ids_in(catalog.load_table(("sales",), "t")) == [1]

    def test_a_table_that_is_not_there(self, catalog: FullCatalog) -> None:
        for ask in (
            lambda: catalog.load_table(("sales",), "t"),
            lambda: catalog.drop_table(("sales",), "t"),
            lambda: catalog.drop_table(("sales",), "t", purge=True),
            lambda: catalog.rename_table((("sales",), "t"), (("sales",), "u")),
        ):
            with pytest.raises(TableNotFound, match=r"table sales\.t does not exist"):
                ask()

    def test_a_table_in_a_namespace_that_can_not_be(self, catalog: FullCatalog) -> None:
        with pytest.raises(PinakesError):
            catalog.load_table(("a.b",), "t")
        with pytest.raises(PinakesError):
            catalog.create_table(("a", ""), "t", SPEC)

    def test_rename(self, catalog: FullCatalog) -> None:
        catalog.create_namespace(("other",), {})
        catalog.create_table(("sales",), "t", SPEC).handle.append(rows(1))
        catalog.rename_table((("sales",), "t"), (("other",), "u"))
        assert catalog.list_tables(("sales",)) == []
        moved = catalog.load_table(("other",), "u")
        assert ids_in(moved) == [1]
        assert isinstance(moved, IcebergTable)
        moved.handle.append(rows(2))
        assert ids_in(catalog.load_table(("other",), "u")) == [1, 2]

    def test_a_table_under_the_old_name_of_another_shares_nothing(self, catalog: FullCatalog) -> None:
        catalog.create_table(("sales",), "t", SPEC).handle.append(rows(1))
        catalog.rename_table((("sales",), "t"), (("sales",), "u"))
        catalog.create_table(("sales",), "t", SPEC).handle.append(rows(2))
        catalog.drop_table(("sales",), "t", purge=True)
        assert ids_in(catalog.load_table(("sales",), "u")) == [1]

    def test_rename_to_what_is_there_or_into_nowhere(self, catalog: FullCatalog) -> None:
        for name in ("t", "u"):
            catalog.create_table(("sales",), name, SPEC)
        catalog.create_view(("sales",), "v", VIEW)
        with pytest.raises(TableExists, match=r"sales\.u already exists"):
            catalog.rename_table((("sales",), "t"), (("sales",), "u"))
        with pytest.raises(TableExists, match=r"sales\.t already exists"):
            catalog.rename_table((("sales",), "t"), (("sales",), "t"))
        with pytest.raises(ViewExists, match=r"sales\.v already exists"):
            catalog.rename_table((("sales",), "t"), (("sales",), "v"))
        with pytest.raises(NamespaceNotFound, match="namespace nowhere does not exist"):
            catalog.rename_table((("sales",), "t"), (("nowhere",), "t"))
        assert catalog.list_tables(("sales",)) == ["t", "u"]

    # --- commits -------------------------------------------------------------------------------------------------

    def test_a_table_made_with_its_rows_appears_at_commit(self, catalog: FullCatalog) -> None:
        creation = catalog.begin_create_table(("sales",), "t", SPEC)
        creation.append(rows(1, 2))
        assert catalog.list_tables(("sales",)) == []
        creation.commit_transaction()
        assert ids_in(catalog.load_table(("sales",), "t")) == [1, 2]

    def test_a_table_made_with_its_rows_in_a_nested_namespace(self, catalog: FullCatalog) -> None:
        catalog.create_namespace(("sales", "eu", "de"), {})
        creation = catalog.begin_create_table(("sales", "eu", "de"), "t", SPEC)
        creation.append(rows(7))
        creation.commit_transaction()
        assert ids_in(catalog.load_table(("sales", "eu", "de"), "t")) == [7]

    def test_two_creations_of_one_table(self, catalog: FullCatalog) -> None:
        first = catalog.begin_create_table(("sales",), "t", SPEC)
        second = catalog.begin_create_table(("sales",), "t", SPEC)
        first.append(rows(1))
        second.append(rows(2))
        first.commit_transaction()
        with pytest.raises(TableExists), translate_errors("table", ("sales",), "t"):
            second.commit_transaction()
        assert ids_in(catalog.load_table(("sales",), "t")) == [1]

    def test_a_commit_on_a_stale_base_conflicts(self, catalog: FullCatalog) -> None:
        spec = dataclasses.replace(SPEC, properties={"commit.retry.num-retries": "0"})
        catalog.create_table(("sales",), "t", spec)
        mine, theirs = (self._handle(catalog, "t") for _ in range(2))
        with theirs.update_schema() as update:
            update.add_column("theirs", LongType())
        change = mine.update_schema().add_column("mine", LongType())
        with (
            pytest.raises(CommitConflict, match=r"table sales\.t was changed"),
            translate_errors("table", ("sales",), "t"),
        ):
            change.commit()
        assert [field.name for field in self._handle(catalog, "t").schema().fields] == ["id", "word", "theirs"]

    def test_a_commit_to_a_table_that_was_dropped(self, catalog: FullCatalog) -> None:
        handle = catalog.create_table(("sales",), "t", SPEC).handle
        catalog.drop_table(("sales",), "t")
        with pytest.raises(TableNotFound), translate_errors("table", ("sales",), "t"):
            handle.append(rows(1))
        assert catalog.list_tables(("sales",)) == []

    def test_appends_of_many_threads_all_land(self, catalog: FullCatalog) -> None:
        patient = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "50"}
        catalog.create_table(("sales",), "t", dataclasses.replace(SPEC, properties=patient))
        gate = threading.Barrier(4)

        def append(number: int) -> None:
            handle = self._handle(catalog, "t")
            gate.wait()
            for step in range(2):
                handle.append(rows(number * 10 + step))
                handle.refresh()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(append, range(4)))
        assert ids_in(catalog.load_table(("sales",), "t")) == [0, 1, 10, 11, 20, 21, 30, 31]

    def test_one_of_many_threads_makes_a_table(self, catalog: FullCatalog) -> None:
        gate = threading.Barrier(4)

        def create(_: int) -> bool:
            gate.wait()
            try:
                catalog.create_table(("sales",), "t", SPEC)
            except TableExists:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(create, range(4))) == 1

    # --- views ---------------------------------------------------------------------------------------------------

    def test_views(self, catalog: FullCatalog) -> None:
        view = dataclasses.replace(VIEW, comment="all ids", properties={"k": "v"})
        catalog.create_view(("sales",), "ids", view)
        assert catalog.list_views(("sales",)) == ["ids"]
        assert catalog.list_tables(("sales",)) == []
        loaded = catalog.load_view(("sales",), "ids")
        assert dataclasses.replace(loaded, schema=SCHEMA) == view
        assert loaded.schema.as_struct() == SCHEMA.as_struct()
        catalog.drop_view(("sales",), "ids")
        assert catalog.list_views(("sales",)) == []

    def test_replace_a_view(self, catalog: FullCatalog) -> None:
        other = Schema(NestedField(1, "n", StringType(), required=False))
        catalog.create_view(("sales",), "v", dataclasses.replace(VIEW, comment="old"), replace=True)
        new = ViewDefinition("SELECT 'x' AS n", None, (), other, properties={"k": "v"})
        catalog.create_view(("sales",), "v", new, replace=True)
        loaded = catalog.load_view(("sales",), "v")
        assert dataclasses.replace(loaded, schema=other) == new
        assert [field.name for field in loaded.schema.fields] == ["n"]

    def test_names_are_taken_by_tables_and_views_alike(self, catalog: FullCatalog) -> None:
        catalog.create_table(("sales",), "t", SPEC)
        catalog.create_view(("sales",), "v", VIEW)
        for replace in (False, True):
            with pytest.raises(TableExists, match=r"a table named sales\.t already exists"):
                catalog.create_view(("sales",), "t", VIEW, replace=replace)
        with pytest.raises(ViewExists, match=r"a view named sales\.v already exists"):
            catalog.create_view(("sales",), "v", VIEW)
        for create in (catalog.create_table, catalog.begin_create_table):
            with pytest.raises(ViewExists, match=r"a view named sales\.v already exists"):
                create(("sales",), "v", SPEC)

    def test_a_view_is_no_table_and_a_table_no_view(self, catalog: FullCatalog) -> None:
        catalog.create_table(("sales",), "t", SPEC)
        catalog.create_view(("sales",), "v", VIEW)
        for ask in (lambda: catalog.load_table(("sales",), "v"), lambda: catalog.drop_table(("sales",), "v")):
            with pytest.raises(TableNotFound):
                ask()
        for ask_view in (
            lambda: catalog.load_view(("sales",), "t"),
            lambda: catalog.drop_view(("sales",), "t"),
            lambda: catalog.load_view(("sales",), "gone"),
            lambda: catalog.rename_view((("sales",), "t"), (("sales",), "u")),
        ):
            with pytest.raises(ViewNotFound):
                ask_view()

    def test_rename_a_view(self, catalog: FullCatalog) -> None:
        catalog.create_namespace(("other",), {})
        catalog.create_view(("sales",), "v", VIEW)
        catalog.create_view(("sales",), "w", VIEW)
        catalog.rename_view((("sales",), "v"), (("other",), "x"))
        assert catalog.list_views(("sales",)) == ["w"]
        assert catalog.load_view(("other",), "x").sql == VIEW.sql
        with pytest.raises(ViewExists):
            catalog.rename_view((("sales",), "w"), (("other",), "x"))
        with pytest.raises(NamespaceNotFound):
            catalog.rename_view((("sales",), "w"), (("gone",), "x"))

    def _handle(self, catalog: FullCatalog, name: str) -> Any:
        loaded = catalog.load_table(("sales",), name)
        assert isinstance(loaded, IcebergTable)
        return loaded.handle
