"""The store contract on PostgreSQL and MariaDB, and what only a server has: collations, lengths, many connections."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, PermissionDenied
from pinakes.providers.jdbc import JdbcCatalog
from pinakes.providers.sql_catalog.store import CatalogStore, ObjectKey, RowExists
from tests.providers.databases import EmptyDatabase, empty_database, store_of
from tests.providers.store_suite import StoreSuite, T
from tests.providers.test_stores import V0
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


class ServerUnderTest:
    def __init__(self, database: EmptyDatabase, old: EmptyDatabase, **options: str | int) -> None:
        self.database = database
        self.old = old
        self.options = options
        self._opened: list[JdbcCatalog] = []

    def store(self, catalog_name: str) -> CatalogStore:
        return self.opened(self.database, catalog_name)

    def old_store(self, catalog_name: str) -> CatalogStore:
        self.old.run(*_v0())
        return self.opened(self.old, catalog_name)

    def insert_untyped(self, catalog_name: str, key: ObjectKey, metadata_location: str) -> None:
        values = (catalog_name, key.namespace, key.name, metadata_location)
        self.database.run("INSERT INTO iceberg_tables VALUES (%s, %s, %s, %s, NULL, NULL)", values=values)

    def opened(self, database: EmptyDatabase, catalog_name: str) -> CatalogStore:
        catalog = JdbcCatalog.open("x", database.location, {"CATALOG_NAME": catalog_name, **self.options})
        self._opened.append(catalog)
        return store_of(catalog)

    def close(self) -> None:
        for catalog in self._opened:
            catalog.close()


def _v0() -> list[str]:
    """Java's statements; the servers make its nullable key column NOT NULL by themselves."""
    return [statement for statement in V0.split(";") if statement.strip()]


class ServerSuite(StoreSuite):
    """What every server has beyond the contract."""

    options: ClassVar[dict[str, str | int]] = {}

    @pytest.fixture
    def facts(self) -> Facts:
        raise NotImplementedError("a subclass says which server")

    @pytest.fixture
    def database(self, facts: Facts) -> Iterator[ServerUnderTest]:
        with empty_database(facts) as new, empty_database(facts) as old:
            under_test = ServerUnderTest(new, old, **self.options)
            yield under_test
            under_test.close()

    @pytest.mark.parametrize(("one", "other"), [("T", "t"), ("t", "t "), ("ä", "a"), ("ß", "ss"), ("e\u0301", "é")])
    def test_names_that_are_nearly_the_same(self, database: ServerUnderTest, one: str, other: str) -> None:
        store = database.store("one")
        store.insert("TABLE", ObjectKey("n", one), "m1")
        assert store.get("TABLE", ObjectKey("n", other)) is None
        assert store.drop("TABLE", ObjectKey("n", other)) == 0
        store.insert("TABLE", ObjectKey("n", other), "m2")
        store.insert_namespace_property(one, "k", "1")
        store.insert_namespace_property(other, "k", "2")
        assert store.get_namespace_properties(one) == {"k": "1"}
        assert store.list_names("TABLE", "n") == sorted([one, other])
        assert store.list_namespaces() == sorted([one, other, "n"])

    @pytest.mark.parametrize("name", ["🏛️" * 60, "x" * 255, "%s", "%(a)s", "a\nb", "a\tb", "`", '"', "?"])
    def test_more_odd_names(self, store: CatalogStore, name: str) -> None:
        store.insert("TABLE", ObjectKey(name, name), "m1")
        store.set_namespace_properties(name, {name: name})
        assert store.list_everything() == [(ObjectKey(name, name), "TABLE")]
        assert store.get_namespace_properties(name) == {name: name}
        assert store.namespace_exists(name)

    def test_what_is_too_long_is_refused(self, store: CatalogStore) -> None:
        with pytest.raises(InvalidArgument, match=r"the name 'x+'… has 256 characters; .* stores at most 255"):
            store.insert("TABLE", ObjectKey("n", "x" * 256), "m")
        with pytest.raises(InvalidArgument, match=r"the namespace .* at most 255"):
            store.insert_namespace_property("n" * 256, "k", "v")
        with pytest.raises(InvalidArgument, match=r"the property value .* at most 1000"):
            store.insert_namespace_property("n", "k", "v" * 1001)
        with pytest.raises(InvalidArgument, match="can't store a value"):
            store.insert("TABLE", T, "m" * 1001)
        assert store.list_everything() == []
        assert store.get("TABLE", ObjectKey("n", "x" * 256)) is None

    def test_what_is_no_text_is_refused(self, store: CatalogStore) -> None:
        with pytest.raises(InvalidArgument, match="not valid Unicode"):
            store.insert("TABLE", ObjectKey("n", "\ud800"), "m")
        store.insert("TABLE", T, "m1")  # and the connection is fine

    def test_many_make_the_tables_at_the_same_moment(self, database: ServerUnderTest) -> None:
        gate = threading.Barrier(6)

        def make(_: int) -> CatalogStore:
            gate.wait()
            return database.store("one")

        with ThreadPoolExecutor(6) as pool:
            stores = list(pool.map(make, range(6)))
        stores[0].insert("VIEW", T, "m")
        assert all(store.list_everything() == [(T, "VIEW")] for store in stores)

    def test_many_upgrade_at_the_same_moment(self, database: ServerUnderTest) -> None:
        stores = [database.old_store("one"), *(database.opened(database.old, "one") for _ in range(4))]
        with ThreadPoolExecutor(5) as pool:
            list(pool.map(lambda store: store.upgrade(), stores))
        assert all(store.holds_views for store in stores)
        stores[4].insert("VIEW", ObjectKey("a", "v"), "m")

    def test_opening_a_v0_database_does_not_change_it(self, database: ServerUnderTest) -> None:
        database.old_store("one")
        assert len(database.old.run("SELECT * FROM iceberg_tables")[0]) == 5

    def test_a_body_that_hides_an_error_commits_nothing(self, store: CatalogStore) -> None:
        def body() -> None:
            store.insert("TABLE", T, "m1")
            try:
                store.insert("TABLE", T, "m2")
            except RowExists:
                return

        with pytest.raises(RowExists):
            store.run_in_transaction(body)
        assert store.list_everything() == []

    def test_a_user_who_may_only_read(self, database: ServerUnderTest) -> None:
        database.store("one").insert("TABLE", T, "m1")
        with self.reader(database.database) as location:
            catalog = JdbcCatalog.open("x", location, {"CATALOG_NAME": "one"})
            try:
                assert catalog.list_tables(("a", "b")) == ["t"]
                with pytest.raises(PermissionDenied, match="refused"):
                    catalog.create_namespace(("n",), {})
            finally:
                catalog.close()

    def reader(self, database: EmptyDatabase) -> Reader:
        return Reader(database)

    def test_a_closed_store_says_so(self, database: ServerUnderTest) -> None:
        store = database.store("one")
        store.close()
        with pytest.raises(CatalogUnavailable, match="ATTACH it again"):
            store.list_everything()
        with pytest.raises(CatalogUnavailable, match="ATTACH it again"):
            store.insert("TABLE", T, "m1")


class Reader:
    """A user who may read one database; gone afterwards."""

    def __init__(self, database: EmptyDatabase) -> None:
        self._database = database
        self._user = f"reader_{database.name}"

    def __enter__(self) -> str:
        name, user = self._database.name, self._user
        if self._database.is_postgres:
            self._database.run(
                f"CREATE USER {user} PASSWORD 'look'",
                f"GRANT USAGE ON SCHEMA {name} TO {user}",
                f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {user}",
            )
        else:
            self._database.run(
                f"CREATE USER {user}@'%' IDENTIFIED BY 'look'", f"GRANT SELECT ON {name}.* TO {user}@'%'"
            )
        facts = self._database.facts
        return self._database.location.replace(f"{facts['user']}:{facts['password']}@", f"{user}:look@")

    def __exit__(self, *_: object) -> None:
        if self._database.is_postgres:
            self._database.run(f"DROP OWNED BY {self._user}")
        self._database.run(f"DROP USER {self._user}")


class TestPostgresStore(ServerSuite):
    @pytest.fixture
    def facts(self, postgres_server: Facts) -> Facts:
        return postgres_server

    def test_no_nul_in_a_name(self, store: CatalogStore) -> None:
        with pytest.raises(InvalidArgument, match="NUL"):
            store.insert("TABLE", ObjectKey("n", "a\0b"), "m")

    def test_the_columns_are_those_of_java(self, database: ServerUnderTest) -> None:
        database.store("one")
        columns = database.database.run(
            "SELECT column_name, data_type, character_maximum_length FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = 'iceberg_tables' ORDER BY ordinal_position"
        )
        assert columns == [
            ("catalog_name", "character varying", 255),
            ("table_namespace", "character varying", 255),
            ("table_name", "character varying", 255),
            ("metadata_location", "character varying", 1000),
            ("previous_metadata_location", "character varying", 1000),
            ("iceberg_type", "character varying", 5),
        ]


class TestPostgresOnOneConnection(TestPostgresStore):
    options: ClassVar[dict[str, str | int]] = {"MAX_CONNECTIONS": 1}


class TestMariaDBStore(ServerSuite):
    @pytest.fixture
    def facts(self, mariadb_server: Facts) -> Facts:
        return mariadb_server

    def test_tables_made_with_a_collation_that_ignores_case(self, database: ServerUnderTest) -> None:
        """Java's statements get the server's own. Names are told apart all the same, as far as the key lets."""
        database.old.run(*(f"{statement} COLLATE utf8mb4_general_ci" for statement in _v0()[:2]))
        store = database.opened(database.old, "one")
        store.insert("TABLE", ObjectKey("n", "t"), "m1")
        assert store.get("TABLE", ObjectKey("n", "T")) is None
        assert store.list_names("TABLE", "N") == []
        assert not store.namespace_exists("N")
        assert store.swap_metadata_location("TABLE", ObjectKey("n", "t"), "M1", "m2") == 0
        assert store.swap_metadata_location("TABLE", ObjectKey("n", "t"), "m1", "m2") == 1
        with pytest.raises(RowExists):
            store.insert("TABLE", ObjectKey("n", "T"), "m1")

    def test_an_update_that_changes_nothing_counts_the_row(self, store: CatalogStore) -> None:
        store.insert("TABLE", T, "m1")
        store.swap_metadata_location("TABLE", T, "m1", "m1")
        assert store.swap_metadata_location("TABLE", T, "m1", "m1") == 1
        assert store.rename("TABLE", T, T) == 1


class TestMariaDBOnOneConnection(TestMariaDBStore):
    options: ClassVar[dict[str, str | int]] = {"MAX_CONNECTIONS": 1}
