"""What SqlCatalog does to files and history, which the engine's interface does not show."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    TableAlreadyExistsError,
    ViewAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import ViewVersion

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, NotSupportedError
from pinakes.providers.iceberg.views import version_of
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from pinakes.providers.sql_catalog.catalog import SqlCatalog
from pinakes.providers.sql_catalog.store import CatalogStore, Kind, ObjectKey, OutcomeUnknown
from tests.providers.catalog_suite import SCHEMA, SPEC, VIEW, rows
from tests.providers.memory import MemoryDatabase, MemoryStore

T = ("sales", "t")
V = ("sales", "v")


class Faulty(MemoryStore):
    """A store that calls `interfere` at each commit, before or instead of the real thing."""

    interfere: Callable[[], None] | None = None

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        if self.interfere is not None:
            self.interfere()
        return super().swap_metadata_location(kind, key, expected, new)


@pytest.fixture
def store() -> Faulty:
    return Faulty(MemoryDatabase(), "toy")


@pytest.fixture
def catalog(store: Faulty, tmp_path: Path) -> Iterator[SqlCatalog]:
    catalog = SqlCatalog(store, warehouse=str(tmp_path / "warehouse"))
    catalog.create_namespace("sales")
    yield catalog
    catalog.close()


def metadata_files(tmp_path: Path) -> set[str]:
    return {str(path) for path in tmp_path.rglob("*.metadata.json")}


def fail_with(error: Exception) -> Callable[[], None]:
    def interfere() -> None:
        raise error

    return interfere


def overtake(store: MemoryStore, kind: Kind, key: ObjectKey) -> Callable[[], None]:
    """Somebody else commits first."""

    def interfere() -> None:
        row = store.get(kind, key)
        assert row is not None
        assert row.metadata_location is not None
        assert MemoryStore.swap_metadata_location(store, kind, key, row.metadata_location, "elsewhere") == 1

    return interfere


# --- commits -----------------------------------------------------------------------------------------------------


def test_a_lost_commit_leaves_no_metadata_file(catalog: SqlCatalog, store: Faulty, tmp_path: Path) -> None:
    table = catalog.create_table(T, SCHEMA, properties={"commit.retry.num-retries": "0"})
    store.interfere = overtake(store, "TABLE", ObjectKey("sales", "t"))
    before = metadata_files(tmp_path)
    with pytest.raises(CommitFailedException, match=r"sales\.t was changed or dropped meanwhile"):
        table.update_spec().add_identity("id").commit()
    assert metadata_files(tmp_path) == before


def test_a_commit_that_the_database_refused_leaves_no_metadata_file(
    catalog: SqlCatalog, store: Faulty, tmp_path: Path
) -> None:
    table = catalog.create_table(T, SCHEMA)
    store.interfere = fail_with(CatalogUnavailable("locked"))
    before = metadata_files(tmp_path)
    with pytest.raises(CatalogUnavailable, match="locked"):
        table.update_spec().add_identity("id").commit()
    assert metadata_files(tmp_path) == before


def test_a_commit_of_unknown_outcome_keeps_its_metadata_file(
    catalog: SqlCatalog, store: Faulty, tmp_path: Path
) -> None:
    table = catalog.create_table(T, SCHEMA)
    store.interfere = fail_with(OutcomeUnknown("the line went dead"))
    before = metadata_files(tmp_path)
    with pytest.raises(CommitStateUnknownException, match="may have happened") as raised:
        table.update_spec().add_identity("id").commit()
    (left,) = metadata_files(tmp_path) - before
    assert left in str(raised.value)


def test_a_lost_creation_leaves_no_metadata_file(catalog: SqlCatalog, store: Faulty, tmp_path: Path) -> None:
    first, second = (catalog.create_table_transaction(T, SCHEMA) for _ in range(2))
    first.commit_transaction()
    before = metadata_files(tmp_path)
    with pytest.raises(TableAlreadyExistsError):
        second.commit_transaction()
    assert metadata_files(tmp_path) == before


def test_a_commit_that_changes_nothing_writes_nothing(catalog: SqlCatalog, tmp_path: Path) -> None:
    table = catalog.create_table(T, SCHEMA)
    before = metadata_files(tmp_path)
    assert catalog.commit_table(table, (), ()).metadata_location == table.metadata_location
    assert metadata_files(tmp_path) == before


def test_the_row_remembers_the_metadata_before(catalog: SqlCatalog, store: Faulty) -> None:
    table = catalog.create_table(T, SCHEMA)
    first = table.metadata_location
    table.append(rows(1))
    row = store.get("TABLE", ObjectKey("sales", "t"))
    assert row is not None
    assert (row.metadata_location, row.previous_metadata_location) == (table.metadata_location, first)


# --- tables ------------------------------------------------------------------------------------------------------


def test_drop_keeps_files_and_purge_deletes_them(catalog: SqlCatalog, tmp_path: Path) -> None:
    for name in ("kept", "purged"):
        table = catalog.create_table(("sales", name), SCHEMA)
        table.append(rows(1))
        table.append(rows(2))
    before = [path for path in tmp_path.rglob("*") if path.is_file()]
    catalog.drop_table(("sales", "kept"))
    catalog.purge_table(("sales", "purged"))
    after = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in after if "purged" in str(path)] == []
    assert len(after) == len([path for path in before if "kept" in str(path)]) > 5


def test_purge_spares_data_files_that_others_may_use(catalog: SqlCatalog, tmp_path: Path) -> None:
    catalog.create_table(T, SCHEMA, properties={"gc.enabled": "false"}).append(rows(1))
    catalog.purge_table(T)
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".parquet"]


def test_purge_of_a_damaged_table_keeps_it(catalog: SqlCatalog, tmp_path: Path) -> None:
    table = catalog.create_table(T, SCHEMA)
    table.append(rows(1))
    for manifest in tmp_path.rglob("snap-*.avro"):
        manifest.unlink()
    with pytest.raises(DataCorrupt, match="without PURGE"):
        catalog.purge_table(T)
    catalog.drop_table(T)
    assert not catalog.table_exists(T)


def test_register(catalog: SqlCatalog) -> None:
    first = catalog.create_table(T, SCHEMA).metadata_location
    catalog.drop_table(T)
    assert catalog.register_table(("sales", "again"), first).metadata_location == first
    with pytest.raises(TableAlreadyExistsError):
        catalog.register_table(("sales", "again"), first)
    with pytest.raises(NoSuchNamespaceError):
        catalog.register_table(("gone", "again"), first)


def test_register_over_another(catalog: SqlCatalog) -> None:
    first = catalog.create_table(T, SCHEMA).metadata_location
    catalog.load_table(T).append(rows(1))
    catalog.register_table(T, first, overwrite=True)
    assert catalog.load_table(T).metadata_location == first
    catalog.register_table(("sales", "new"), first, overwrite=True)
    assert catalog.table_exists(("sales", "new"))


def test_missing_and_broken_metadata_name_table_and_file(catalog: SqlCatalog) -> None:
    location = Path(catalog.create_table(T, SCHEMA).metadata_location)
    location.write_text("{ not json")
    with pytest.raises(DataCorrupt, match=r"table sales\.t is damaged: its metadata file .*00000-.* can't be read"):
        catalog.load_table(T)
    location.unlink()
    with pytest.raises(DataCorrupt, match=r"table sales\.t is damaged: its metadata file .*00000-.* is missing"):
        catalog.load_table(T)
    assert catalog.table_exists(T)
    catalog.drop_table(T)


def test_a_catalog_without_a_place_for_tables(store: Faulty) -> None:
    catalog = SqlCatalog(store)
    catalog.create_namespace("bare")
    with pytest.raises(ValueError, match=r"bare\.t has no location"):
        catalog.create_table("bare.t", SCHEMA)


def test_errors_are_those_of_pyiceberg(catalog: SqlCatalog) -> None:
    """So that whatever is written for pyiceberg's catalogs works with this one."""
    catalog.create_table(T, SCHEMA)
    catalog.create_view(V, SCHEMA, version_of(VIEW))
    cases: list[tuple[type[Exception], Callable[[], object]]] = [
        (NoSuchTableError, lambda: catalog.load_table("sales.gone")),
        (NoSuchViewError, lambda: catalog.load_view("sales.gone")),
        (NoSuchNamespaceError, lambda: catalog.list_tables("gone")),
        (TableAlreadyExistsError, lambda: catalog.create_table(T, SCHEMA)),
        (ViewAlreadyExistsError, lambda: catalog.create_table(V, SCHEMA)),
        (ViewAlreadyExistsError, lambda: catalog.create_view(V, SCHEMA, version_of(VIEW))),
        (NamespaceAlreadyExistsError, lambda: catalog.create_namespace("sales")),
        (NamespaceNotEmptyError, lambda: catalog.drop_namespace("sales")),
        (ValueError, lambda: catalog.create_namespace(("a.b",))),
        (ValueError, lambda: catalog.create_table(("sales", ""), SCHEMA)),
    ]
    for expected, ask in cases:
        with pytest.raises(expected):
            ask()
    catalog.create_namespace_if_not_exists("sales")
    assert catalog.create_table_if_not_exists(T, SCHEMA).name() == T


def test_namespace_update_summary(catalog: SqlCatalog) -> None:
    catalog.create_namespace("n", {"a": "1", "b": "2"})
    summary = catalog.update_namespace_properties("n", {"a", "c"}, {"d": "4"})
    assert (summary.removed, summary.updated, summary.missing) == (["a"], ["d"], ["c"])


# --- views -------------------------------------------------------------------------------------------------------


def version(sql: str) -> ViewVersion:
    representation = {"type": "sql", "sql": sql, "dialect": "pinakes"}
    return ViewVersion.model_validate({"schema-id": 0, "representations": [representation], "default-namespace": []})


def test_a_replaced_view_keeps_its_versions(catalog: SqlCatalog) -> None:
    first = catalog.create_view(V, SCHEMA, version("select 1"))
    catalog.replace_view(V, Schema(NestedField(1, "n", LongType(), required=False)), version("select 2"))
    catalog.replace_view(V, SCHEMA, version("select 3"))
    view = catalog.load_view(V)
    assert view.uuid() == first.uuid()
    assert [v.version_id for v in view.versions] == [1, 2, 3]
    assert [entry.version_id for entry in view.history()] == [1, 2, 3]
    assert [v.schema_id for v in view.versions] == [0, 1, 0]
    assert sorted(view.schemas()) == [0, 1]


def test_a_view_replaced_by_the_same_gets_no_version(catalog: SqlCatalog) -> None:
    catalog.create_view(V, SCHEMA, version("select 1"), properties={"comment": "old"})
    catalog.replace_view(V, SCHEMA, version("select 1"), {"comment": "new"})
    view = catalog.load_view(V)
    assert len(view.versions) == 1
    assert view.properties == {"comment": "new"}


def test_versions_are_bounded(catalog: SqlCatalog) -> None:
    bound = {"version.history.num-entries": "3"}
    catalog.create_view(V, SCHEMA, version("select 0"), properties=bound)
    for number in range(1, 6):
        catalog.replace_view(V, SCHEMA, version(f"select {number}"), bound)
    view = catalog.load_view(V)
    assert [v.version_id for v in view.versions] == [4, 5, 6]
    assert [entry.version_id for entry in view.history()] == [4, 5, 6]
    assert view.current_version().version_id == 6


def test_a_lost_replacement_of_a_view(catalog: SqlCatalog, store: Faulty, tmp_path: Path) -> None:
    catalog.create_view(V, SCHEMA, version("select 1"))
    store.interfere = overtake(store, "VIEW", ObjectKey("sales", "v"))
    before = metadata_files(tmp_path)
    with pytest.raises(CommitFailedException, match=r"view sales\.v was changed"):
        catalog.replace_view(V, SCHEMA, version("select 2"))
    assert metadata_files(tmp_path) == before


def test_a_view_of_another_engine(catalog: SqlCatalog, store: Faulty, tmp_path: Path) -> None:
    """Java compresses the metadata of views; the text of another dialect is better than none."""
    spark = version("select 1").model_dump_json().replace("pinakes", "spark")
    made = catalog.create_view(V, SCHEMA, ViewVersion.model_validate_json(spark))
    compressed = tmp_path / "00000-x.gz.metadata.json"
    compressed.write_bytes(gzip.compress(made.metadata.model_dump_json().encode()))
    catalog.register_view(("sales", "java"), str(compressed))
    adapter = StoreCatalog("memory", store, {"warehouse": str(tmp_path)})
    loaded = adapter.load_view(("sales",), "java")
    assert (loaded.sql, loaded.dialect) == ("select 1", "spark")


def test_broken_view_metadata(catalog: SqlCatalog, tmp_path: Path) -> None:
    catalog.create_view(V, SCHEMA, version("select 1"))
    (file,) = metadata_files(tmp_path)
    Path(file).write_text('{"view-uuid": 1}')
    with pytest.raises(DataCorrupt, match=r"view sales\.v is damaged"):
        catalog.load_view(V)
    assert catalog.view_exists(V)


def test_views_need_the_newer_schema(tmp_path: Path) -> None:
    old: CatalogStore = MemoryStore(MemoryDatabase(has_types=False), "toy")
    adapter = StoreCatalog("memory", old, {"warehouse": str(tmp_path)})
    adapter.create_namespace(("sales",), {})
    adapter.create_table(("sales",), "t", SPEC)
    assert adapter.list_views(("sales",)) == []
    with pytest.raises(NotSupportedError, match="upgrade"):
        adapter.create_view(("sales",), "v", VIEW)
    assert len(metadata_files(tmp_path)) == 1


def test_a_file_that_stays_is_logged(
    catalog: SqlCatalog, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog.create_table(T, SCHEMA)
    refusal = fail_with(OSError("device is busy"))
    monkeypatch.setattr(type(table.io), "delete", lambda self, location: refusal())
    with caplog.at_level(logging.WARNING):
        catalog.purge_table(T)
    assert "could not delete" in caplog.text
    assert not catalog.table_exists(T)
