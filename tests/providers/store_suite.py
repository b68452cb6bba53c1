"""The contract of a CatalogStore, point by point. Subclass it, give it a `database` fixture, and inherit every test."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import pytest

from pinakes.core.errors import AlreadyExistsError, NotSupportedError
from pinakes.providers.sql_catalog.store import CatalogStore, Kind, ObjectKey, RowExists

R = TypeVar("R")

T = ObjectKey("a.b", "t")
V = ObjectKey("a.b", "v")
KINDS: tuple[Kind, ...] = ("TABLE", "VIEW")


class StoreDatabase(Protocol):
    """One empty database that the tests open stores on."""

    def store(self, catalog_name: str) -> CatalogStore:
        """A ready store on this database, closed at the end of the test."""
        ...

    def old_store(self, catalog_name: str) -> CatalogStore:
        """A ready store on another, V0 database: no type column. One table `a.b.t` at `m1` is in it."""
        ...

    def insert_untyped(self, catalog_name: str, key: ObjectKey, metadata_location: str) -> None:
        """A row as older writers leave it: its type is NULL."""
        ...


class StoreSuite:
    @pytest.fixture
    def database(self) -> StoreDatabase:
        raise NotImplementedError("a subclass says which database")

    @pytest.fixture
    def store(self, database: StoreDatabase) -> CatalogStore:
        return database.store("one")

    # --- rows ----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", KINDS)
    def test_insert_and_get(self, store: CatalogStore, kind: Kind) -> None:
        store.insert(kind, T, "m1")
        row = store.get(kind, T)
        assert row is not None
        assert (row.key, row.kind, row.metadata_location, row.previous_metadata_location) == (T, kind, "m1", None)

    def test_a_missing_row_is_none(self, store: CatalogStore) -> None:
        assert store.get("TABLE", T) is None
        assert store.get("VIEW", T) is None

    def test_a_table_is_no_view_and_a_view_no_table(self, store: CatalogStore) -> None:
        store.insert("TABLE", T, "m1")
        store.insert("VIEW", V, "m2")
        assert store.get("VIEW", T) is None
        assert store.get("TABLE", V) is None
        assert store.list_names("TABLE", "a.b") == ["t"]
        assert store.list_names("VIEW", "a.b") == ["v"]
        assert store.drop("VIEW", T) == 0
        assert store.rename("TABLE", V, ObjectKey("a.b", "w")) == 0
        assert store.swap_metadata_location("TABLE", V, "m2", "m3") == 0

    def test_list_names_is_of_exactly_one_namespace_and_sorted(self, store: CatalogStore) -> None:
        for namespace, name in (("a", "z"), ("a", "b"), ("a.c", "x"), ("A", "y"), ("", "rootless")):
            store.insert("TABLE", ObjectKey(namespace, name), "m")
        assert store.list_names("TABLE", "a") == ["b", "z"]
        assert store.list_names("TABLE", "") == ["rootless"]
        assert store.list_names("TABLE", "nowhere") == []

    def test_list_everything(self, store: CatalogStore) -> None:
        store.insert("VIEW", V, "m")
        store.insert("TABLE", T, "m")
        store.insert("TABLE", ObjectKey("a", "x"), "m")
        assert store.list_everything() == [(ObjectKey("a", "x"), "TABLE"), (T, "TABLE"), (V, "VIEW")]

    @pytest.mark.parametrize("name", ["käse", "two words", 'q"uote', "it's", "%_!", "a.b", "日本", "\\"])
    def test_odd_names(self, store: CatalogStore, name: str) -> None:
        store.insert("TABLE", ObjectKey(name, name), "m1")
        assert store.list_names("TABLE", name) == [name]
        assert store.swap_metadata_location("TABLE", ObjectKey(name, name), "m1", "m2") == 1
        assert store.drop("TABLE", ObjectKey(name, name)) == 1

    @pytest.mark.parametrize("kind", KINDS)
    def test_drop_counts(self, store: CatalogStore, kind: Kind) -> None:
        store.insert(kind, T, "m1")
        assert store.drop(kind, T) == 1
        assert store.drop(kind, T) == 0
        assert store.get(kind, T) is None

    # --- scope ---------------------------------------------------------------------------------------------------

    def test_stores_of_other_names_see_nothing(self, database: StoreDatabase) -> None:
        one, two = database.store("one"), database.store("two")
        one.insert("TABLE", T, "m1")
        one.insert_namespace_property("p", "k", "v")
        assert two.get("TABLE", T) is None
        assert two.list_everything() == []
        assert two.list_namespaces() == []
        assert not two.namespace_exists("p")
        assert two.get_namespace_properties("p") == {}
        assert two.drop("TABLE", T) == 0
        assert two.rename("TABLE", T, V) == 0
        assert two.swap_metadata_location("TABLE", T, "m1", "m2") == 0
        assert two.remove_namespace_properties("p") == 0

    def test_two_names_may_hold_the_same_key(self, database: StoreDatabase) -> None:
        one, two = database.store("one"), database.store("two")
        one.insert("TABLE", T, "m1")
        two.insert("VIEW", T, "m2")
        assert one.list_everything() == [(T, "TABLE")]
        assert two.list_everything() == [(T, "VIEW")]

    def test_two_stores_of_one_name_share_rows(self, database: StoreDatabase) -> None:
        database.store("one").insert("TABLE", T, "m1")
        assert database.store("one").get("TABLE", T) is not None

    # --- collisions ----------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("first", KINDS)
    @pytest.mark.parametrize("second", KINDS)
    def test_insert_collides(self, store: CatalogStore, first: Kind, second: Kind) -> None:
        store.insert(first, T, "m1")
        with pytest.raises(RowExists) as raised:
            store.insert(second, T, "m2")
        assert isinstance(raised.value, AlreadyExistsError)
        row = store.get(first, T)
        assert row is not None
        assert row.metadata_location == "m1"

    @pytest.mark.parametrize("taken_by", KINDS)
    def test_rename_collides(self, store: CatalogStore, taken_by: Kind) -> None:
        store.insert("TABLE", T, "m1")
        store.insert(taken_by, V, "m2")
        with pytest.raises(RowExists):
            store.rename("TABLE", T, V)
        assert store.get("TABLE", T) is not None
        assert store.get(taken_by, V) is not None

    def test_namespace_property_collides(self, store: CatalogStore) -> None:
        store.insert_namespace_property("a", "k", "v")
        with pytest.raises(RowExists):
            store.insert_namespace_property("a", "k", "w")
        assert store.get_namespace_properties("a") == {"k": "v"}

    @pytest.mark.parametrize("kind", KINDS)
    def test_rename_moves_across_namespaces(self, store: CatalogStore, kind: Kind) -> None:
        store.insert(kind, T, "m1")
        assert store.rename(kind, T, ObjectKey("z", "new")) == 1
        assert store.list_everything() == [(ObjectKey("z", "new"), kind)]

    # --- compare-and-set -----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", KINDS)
    def test_swap_moves_on_and_remembers(self, store: CatalogStore, kind: Kind) -> None:
        store.insert(kind, T, "m1")
        assert store.swap_metadata_location(kind, T, "m1", "m2") == 1
        row = store.get(kind, T)
        assert row is not None
        assert (row.metadata_location, row.previous_metadata_location) == ("m2", "m1")

    @pytest.mark.parametrize("kind", KINDS)
    def test_swap_on_a_stale_base_changes_no_row(self, store: CatalogStore, kind: Kind) -> None:
        store.insert(kind, T, "m1")
        store.swap_metadata_location(kind, T, "m1", "m2")
        assert store.swap_metadata_location(kind, T, "m1", "m3") == 0
        row = store.get(kind, T)
        assert row is not None
        assert row.metadata_location == "m2"

    def test_swap_of_a_missing_row_changes_no_row(self, store: CatalogStore) -> None:
        assert store.swap_metadata_location("TABLE", T, "m1", "m2") == 0

    # --- namespaces ----------------------------------------------------------------------------------------------

    def test_namespace_properties(self, store: CatalogStore) -> None:
        store.insert_namespace_property("a", "k", "v")
        store.set_namespace_properties("a", {"k": "w", "l": ""})
        assert store.get_namespace_properties("a") == {"k": "w", "l": ""}
        assert store.remove_namespace_properties("a", ["k", "none"]) == 1
        assert store.get_namespace_properties("a") == {"l": ""}
        store.set_namespace_properties("a", {"x": "1", "y": "2"})
        assert store.remove_namespace_properties("a") == 3
        assert store.get_namespace_properties("a") == {}

    def test_a_namespace_exists_through_rows_in_or_below_it(self, store: CatalogStore) -> None:
        store.insert("VIEW", ObjectKey("x.y.z", "v"), "m")
        store.insert_namespace_property("p.q", "exists", "true")
        assert [store.namespace_exists(n) for n in ("x", "x.y", "x.y.z", "p", "p.q")] == [True] * 5
        assert [store.namespace_exists(n) for n in ("y", "x.y.z.v", "x.", "p.", "q")] == [False] * 5

    def test_a_namespace_is_matched_exactly(self, store: CatalogStore) -> None:
        for namespace in ("a_b.c", "a!x.c", "a%.c", "AB.c", "ab-c", "abc.d", "ab/c"):
            store.insert_namespace_property(namespace, "exists", "true")
        for near in ("a-b", "axb", "a!", "a%b", "Ab", "ab", "abc.D"):
            assert not store.namespace_exists(near), near
            assert store.list_namespaces(near) == [], near
        assert store.list_namespaces("a_b") == ["a_b.c"]

    def test_list_namespaces_is_of_both_tables_distinct_and_sorted(self, store: CatalogStore) -> None:
        store.insert("TABLE", ObjectKey("b", "t"), "m")
        store.insert("VIEW", ObjectKey("b", "v"), "m")
        store.insert("TABLE", ObjectKey("", "rootless"), "m")
        store.set_namespace_properties("b", {"k": "v", "l": "w"})
        store.insert_namespace_property("a.x", "exists", "true")
        store.insert_namespace_property("a", "exists", "true")
        assert store.list_namespaces() == ["a", "a.x", "b"]
        assert store.list_namespaces("a") == ["a.x"]
        assert store.list_namespaces("b") == []

    # --- transactions --------------------------------------------------------------------------------------------

    def test_a_transaction_commits_and_returns(self, database: StoreDatabase) -> None:
        store = database.store("one")

        def body() -> str:
            store.insert("TABLE", T, "m1")
            store.insert_namespace_property("a", "k", "v")
            return "done"

        assert store.run_in_transaction(body) == "done"
        assert database.store("one").get("TABLE", T) is not None

    @pytest.mark.parametrize("error", [RowExists("x"), RuntimeError("x"), KeyboardInterrupt()])
    def test_any_error_rolls_everything_back(self, store: CatalogStore, error: BaseException) -> None:
        store.insert("TABLE", T, "m1")

        def body() -> None:
            store.insert("TABLE", V, "m1")
            store.swap_metadata_location("TABLE", T, "m1", "m2")
            store.set_namespace_properties("a", {"k": "v"})
            store.run_in_transaction(lambda: store.insert("VIEW", ObjectKey("n", "w"), "m"))
            raise error

        with pytest.raises(type(error)):
            store.run_in_transaction(body)
        assert store.list_everything() == [(T, "TABLE")]
        assert store.get_namespace_properties("a") == {}
        row = store.get("TABLE", T)
        assert row is not None
        assert row.metadata_location == "m1"

    def test_a_collision_within_rolls_back_and_leaves_the_store_usable(self, store: CatalogStore) -> None:
        def body() -> None:
            store.insert("TABLE", V, "m1")
            store.insert("TABLE", V, "m1")

        with pytest.raises(RowExists):
            store.run_in_transaction(body)
        assert store.list_everything() == []
        store.insert("TABLE", V, "m1")

    # --- threads -------------------------------------------------------------------------------------------------

    def test_one_of_many_threads_wins_a_create(self, store: CatalogStore) -> None:
        def create(number: int) -> bool:
            try:
                store.insert("TABLE", T, f"m{number}")
            except RowExists:
                return False
            return True

        assert sum(_at_once(create, 8)) == 1

    def test_one_of_many_threads_wins_a_commit(self, store: CatalogStore) -> None:
        store.insert("TABLE", T, "m0")
        assert sum(_at_once(lambda n: store.swap_metadata_location("TABLE", T, "m0", f"new{n}"), 8)) == 1

    def test_transactions_of_threads_do_not_mix(self, store: CatalogStore) -> None:
        """A counter that is read and written in a transaction loses no step."""
        store.insert_namespace_property("n", "count", "0")

        def step(_: int) -> None:
            def body() -> None:
                count = int(store.get_namespace_properties("n")["count"])
                store.set_namespace_properties("n", {"count": str(count + 1)})

            for _ in range(10):
                store.run_in_transaction(body)

        _at_once(step, 4)
        assert store.get_namespace_properties("n") == {"count": "40"}

    # --- older databases -----------------------------------------------------------------------------------------

    def test_a_row_without_a_type_is_a_table(self, database: StoreDatabase, store: CatalogStore) -> None:
        database.insert_untyped("one", T, "m1")
        assert store.list_names("TABLE", "a.b") == ["t"]
        assert store.list_names("VIEW", "a.b") == []
        assert store.list_everything() == [(T, "TABLE")]
        assert store.swap_metadata_location("TABLE", T, "m1", "m2") == 1
        assert store.rename("TABLE", T, V) == 1
        assert store.drop("TABLE", V) == 1

    def test_a_v0_database_is_read_and_written_as_it_is(self, database: StoreDatabase) -> None:
        store = database.old_store("one")
        assert not store.holds_views
        assert store.list_everything() == [(T, "TABLE")]
        assert store.list_names("VIEW", "a.b") == []
        assert store.get("VIEW", T) is None
        store.insert("TABLE", V, "m")
        assert store.swap_metadata_location("TABLE", T, "m1", "m2") == 1
        assert store.rename("TABLE", V, ObjectKey("c", "u")) == 1
        assert store.drop("TABLE", ObjectKey("c", "u")) == 1
        with pytest.raises(NotSupportedError, match=r"(?i)upgrade"):
            store.insert("VIEW", V, "m")
        assert not store.holds_views

    def test_a_v0_database_is_upgraded_when_asked(self, database: StoreDatabase) -> None:
        store = database.old_store("one")
        store.upgrade()
        assert store.holds_views
        store.insert("VIEW", V, "m")
        assert store.list_everything() == [(T, "TABLE"), (V, "VIEW")]
        store.upgrade()  # once more is nothing
        assert store.list_everything() == [(T, "TABLE"), (V, "VIEW")]

    def test_initialize_again_keeps_everything(self, store: CatalogStore) -> None:
        store.insert("VIEW", V, "m")
        store.initialize()
        assert store.list_everything() == [(V, "VIEW")]


def _at_once(work: Callable[[int], R], threads: int) -> list[R]:
    """What `work` gave in each thread, all let go at the same moment."""
    gate = threading.Barrier(threads)

    def run(number: int) -> R:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))
