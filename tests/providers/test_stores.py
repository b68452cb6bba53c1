"""The store contract over every store we have."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PermissionDenied
from pinakes.providers.sql_catalog.database import stored_catalog_names
from pinakes.providers.sql_catalog.pinned import PinnedStore
from pinakes.providers.sql_catalog.sqlite import SqliteStore
from pinakes.providers.sql_catalog.sqlite_connection import SqliteConnection
from pinakes.providers.sql_catalog.store import CatalogStore, ObjectKey, ObjectRow
from tests.providers.memory import MemoryDatabase, MemoryStore
from tests.providers.store_suite import StoreSuite, T

V0 = """
CREATE TABLE iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
    PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255),
    property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key));
INSERT INTO iceberg_tables VALUES ('one', 'a.b', 't', 'm1', NULL);
"""


class MemoryUnderTest:
    def __init__(self) -> None:
        self._database = MemoryDatabase()

    def store(self, catalog_name: str) -> CatalogStore:
        return MemoryStore(self._database, catalog_name)

    def old_store(self, catalog_name: str) -> CatalogStore:
        old = MemoryDatabase(has_types=False)
        old.rows[catalog_name, T] = ObjectRow(T, "TABLE", "m1", None)
        return MemoryStore(old, catalog_name)

    def insert_untyped(self, catalog_name: str, key: ObjectKey, metadata_location: str) -> None:
        self._database.rows[catalog_name, key] = ObjectRow(key, "TABLE", metadata_location, None)


class SqliteUnderTest:
    def __init__(self, directory: Path) -> None:
        self.path = directory / "catalog.db"
        self._old = directory / "old.db"
        self._stores: list[SqliteStore] = []

    def store(self, catalog_name: str) -> CatalogStore:
        return self._opened(self.path, catalog_name)

    def old_store(self, catalog_name: str) -> CatalogStore:
        with closing(sqlite3.connect(self._old)) as raw:
            raw.executescript(V0)
        return self._opened(self._old, catalog_name)

    def insert_untyped(self, catalog_name: str, key: ObjectKey, metadata_location: str) -> None:
        values = (catalog_name, key.namespace, key.name, metadata_location)
        with closing(sqlite3.connect(self.path)) as raw, raw:
            raw.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, NULL)", values)

    def close(self) -> None:
        for store in self._stores:
            store.close()

    def _opened(self, path: Path, catalog_name: str) -> SqliteStore:
        store = SqliteStore.open(path, catalog_name)
        self._stores.append(store)
        return store


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def database(self) -> MemoryUnderTest:
        return MemoryUnderTest()


class TestSqliteStore(StoreSuite):
    @pytest.fixture
    def database(self, tmp_path: Path) -> Iterator[SqliteUnderTest]:
        under_test = SqliteUnderTest(tmp_path)
        yield under_test
        under_test.close()

    def test_the_file_is_in_wal_mode(self, database: SqliteUnderTest) -> None:
        database.store("one")
        with closing(sqlite3.connect(database.path)) as raw:
            assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    def test_the_type_is_stored(self, database: SqliteUnderTest) -> None:
        database.store("one").insert("TABLE", T, "m1")
        with closing(sqlite3.connect(database.path)) as raw:
            stored = raw.execute("SELECT iceberg_type, previous_metadata_location FROM iceberg_tables").fetchall()
        assert stored == [("TABLE", None)]

    def test_opening_a_v0_file_does_not_change_it(self, database: SqliteUnderTest) -> None:
        database.old_store("one")
        with closing(sqlite3.connect(database.path.with_name("old.db"))) as raw:
            columns = [row[1] for row in raw.execute("PRAGMA table_info('iceberg_tables')")]
        assert "iceberg_type" not in columns

    def test_java_may_leave_nulls_among_properties(self, database: SqliteUnderTest) -> None:
        store = database.old_store("one")
        with closing(sqlite3.connect(database.path.with_name("old.db"))) as raw, raw:
            raw.execute(
                "INSERT INTO iceberg_namespace_properties VALUES ('one', 'n', 'k', NULL), ('one', 'n', NULL, 'v')"
            )
        assert store.get_namespace_properties("n") == {"k": ""}
        assert store.namespace_exists("n")

    def test_stored_catalog_names(self, database: SqliteUnderTest, tmp_path: Path) -> None:
        database.store("rows").insert("TABLE", T, "m1")
        database.store("properties").insert_namespace_property("a", "k", "v")
        database.store("nothing")
        for path, names in ((database.path, ["properties", "rows"]), (tmp_path / "empty.db", [])):
            connection = SqliteConnection(path)
            assert stored_catalog_names(connection) == names
            connection.close()


class PinnedUnderTest(SqliteUnderTest):
    """Nobody but the transaction sees its changes, so a catalog name has one store."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._pinned: dict[str, PinnedStore] = {}

    def store(self, catalog_name: str) -> CatalogStore:
        if catalog_name not in self._pinned:
            self._pinned[catalog_name] = PinnedStore(self._opened(self.path, catalog_name))
        return self._pinned[catalog_name]

    def old_store(self, catalog_name: str) -> CatalogStore:
        super().old_store(catalog_name)
        return PinnedStore(self._stores[-1])


class TestPinnedStore(StoreSuite):
    @pytest.fixture
    def database(self, tmp_path: Path) -> Iterator[PinnedUnderTest]:
        under_test = PinnedUnderTest(tmp_path)
        yield under_test
        under_test.close()

    def test_the_database_has_all_of_it_after_publish(self, tmp_path: Path) -> None:
        with closing(SqliteStore.open(tmp_path / "catalog.db", "one")) as store:
            store.insert("TABLE", ObjectKey("a", "dropped"), "m1")
            store.insert("TABLE", ObjectKey("a", "renamed"), "m2")
            store.insert("VIEW", ObjectKey("a", "changed"), "m3")
            store.set_namespace_properties("a", {"k": "v", "gone": "x"})
            pinned = PinnedStore(store)
            before = store.read_rows()
            pinned.drop("TABLE", ObjectKey("a", "dropped"))
            pinned.rename("TABLE", ObjectKey("a", "renamed"), ObjectKey("b", "renamed"))
            pinned.swap_metadata_location("VIEW", ObjectKey("a", "changed"), "m3", "m4")
            pinned.insert("VIEW", ObjectKey("a", "dropped"), "m5")
            pinned.set_namespace_properties("a", {"k": "w"})
            pinned.set_namespace_properties("n", {"exists": "true"})
            pinned.remove_namespace_properties("a", {"gone"})
            assert store.read_rows() == before
            pinned.publish()
            found = {
                (key.namespace, key.name): (r.kind, r.metadata_location) for key, r in store.read_rows().objects.items()
            }
            assert found == {
                ("b", "renamed"): ("TABLE", "m2"),
                ("a", "changed"): ("VIEW", "m4"),
                ("a", "dropped"): ("VIEW", "m5"),
            }
            assert store.read_rows().properties == {("a", "k"): "w", ("n", "exists"): "true"}


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_text("not a database at all, only some words in a file\n" * 20)
    with pytest.raises(DataCorrupt, match=r"catalog\.db is not a sound SQLite database"):
        SqliteStore.open(path, "one")


def test_a_database_with_another_iceberg_tables(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE iceberg_tables (x)")
    with pytest.raises(DataCorrupt, match="no column metadata_location"):
        SqliteStore.open(path, "one")


def test_a_directory_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CatalogUnavailable, match="unable to open"):
        SqliteStore.open(tmp_path / "nowhere" / "catalog.db", "one")


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "catalog.db", "one")
    store.close()
    with pytest.raises(CatalogUnavailable, match="ATTACH it again"):
        store.list_everything()
    with pytest.raises(CatalogUnavailable, match="ATTACH it again"):
        store.insert("TABLE", T, "m1")


def test_a_lock_that_is_never_released(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    SqliteStore.open(path, "one").close()
    connection = SqliteConnection(path, busy_seconds=0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CatalogUnavailable, match=r"locked by another process for 0\.05 seconds"):
            SqliteStore(connection, "one").insert("TABLE", T, "m1")
        assert SqliteStore(connection, "one").list_everything() == []  # readers do not wait
    connection.close()


def test_a_store_that_may_only_be_read(tmp_path: Path) -> None:
    """query_only stands for a file without write permission, which the super-user would have all the same."""
    store = SqliteStore.open(tmp_path / "catalog.db", "one")
    store._database.read("PRAGMA query_only = ON")
    with pytest.raises(PermissionDenied, match="can't be written"):
        store.insert("TABLE", T, "m1")
    store.close()
