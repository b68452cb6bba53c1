"""The catalog that remembers, and the caches of statements, listings and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema

from pinakes.caches.caching_catalog import CachingCatalog, cache_catalog
from pinakes.caches.origins import Origins
from pinakes.caches.registry import Caches, make_caches
from pinakes.config.model import CacheConfig, CachesConfig, ListingsConfig
from pinakes.core import catalog as groups
from pinakes.core.catalog import IcebergTable, TableSpec, ViewDefinition
from pinakes.core.errors import CatalogUnavailable, ParseError, TableNotFound
from pinakes.core.names import Namespace

GROUPS: list[Any] = [
    groups.Catalog,
    groups.SupportsNamespaces,
    groups.SupportsNamespaceChanges,
    groups.SupportsDefaultNamespace,
    groups.SupportsTables,
    groups.SupportsTableChanges,
    groups.SupportsViews,
    groups.SupportsBulkListing,
    groups.SupportsPathIdentifiers,
    groups.ExplainsReading,
]

SALES: Namespace = ("sales",)
VIEW = ViewDefinition("select 1", None, (), Schema())
SPEC = TableSpec(Schema(), UNPARTITIONED_PARTITION_SPEC)


class Metadata(str):
    """A version, with as much of a table's metadata as is looked at to weigh it."""

    schemas = snapshots = snapshot_log = metadata_log = properties = ()


class Handle:
    """Stands for a pyiceberg table, whose commits change it in place."""

    def __init__(self, metadata: object) -> None:
        self.metadata = Metadata(metadata)


class Bare:
    """A catalog that keeps tables and views in a dict, counts the calls and fails after a change when told to."""

    type = "fake"

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.objects: dict[tuple[Namespace, str], Any] = {(SALES, "orders"): "v1"}
        self.spaces: dict[Namespace, dict[str, str]] = {SALES: {"comment": "c"}}
        self.broken = False
        self.closed = False

    def check(self) -> None:
        self.calls["check"] += 1

    def close(self) -> None:
        self.closed = True

    def changed(self) -> None:
        if self.broken:
            raise CatalogUnavailable("the connection broke after the change")

    def names(self, namespace: Namespace, *, views: bool) -> list[str]:
        return [
            name
            for (space, name), o in self.objects.items()
            if space == namespace and isinstance(o, ViewDefinition) == views
        ]


class Namespaces(Bare):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        self.calls["list_namespaces"] += 1
        return [n for n in self.spaces if n[:-1] == parent]

    def namespace_exists(self, namespace: Namespace) -> bool:
        self.calls["namespace_exists"] += 1
        return namespace in self.spaces

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        self.calls["load_namespace"] += 1
        return dict(self.spaces[namespace])

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        self.spaces[namespace] = dict(properties)
        self.changed()

    def drop_namespace(self, namespace: Namespace) -> None:
        del self.spaces[namespace]
        self.changed()

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        self.spaces[namespace].update(updates)
        self.changed()


class Tables(Bare):
    def list_tables(self, namespace: Namespace) -> list[str]:
        self.calls["list_tables"] += 1
        return self.names(namespace, views=False)

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        self.calls["load_table"] += 1
        if (namespace, name) not in self.objects:
            raise TableNotFound(name)
        handle: Any = Handle(self.objects[namespace, name])
        return IcebergTable(namespace, name, handle)


class TableChanges(Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> IcebergTable:
        self.objects[namespace, name] = "new"
        self.changed()
        return self.load_table(namespace, name)

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Any:
        return Handle(f"begun {name}")

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        del self.objects[namespace, name]
        self.changed()

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self.objects[target] = self.objects.pop(source)
        self.changed()


class Views(Bare):
    def list_views(self, namespace: Namespace) -> list[str]:
        self.calls["list_views"] += 1
        return self.names(namespace, views=True)

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        self.calls["load_view"] += 1
        found = self.objects[namespace, name]
        assert isinstance(found, ViewDefinition)
        return found

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        self.objects[namespace, name] = view
        self.changed()

    def drop_view(self, namespace: Namespace, name: str) -> None:
        del self.objects[namespace, name]
        self.changed()

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self.objects[target] = self.objects.pop(source)
        self.changed()


class Bulk(Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        self.calls["list_everything"] += 1
        return [(space, name, "TABLE") for space, name in self.objects]


class Defaults(Bare):
    default_namespace: Namespace = SALES


class Paths(Bare):
    def load_path(self, path: str) -> IcebergTable:
        self.calls["load_path"] += 1
        handle: Any = Handle(path)
        return IcebergTable((), path, handle)


class Full(TableChanges, Bulk, Views, Namespaces, Defaults, Paths):
    pass


class FakeClock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Parsed:
    text: str
    shown: str


def parse(text: str) -> Parsed:
    return Parsed(text, text.replace("secret", "***"))


def caches(clock: FakeClock | None = None, **configs: Any) -> Caches[Parsed]:
    return make_caches(CachesConfig(**configs), parse, clock or FakeClock())


def full(user: str = "", shared: Caches[Parsed] | None = None, inner: Full | None = None) -> tuple[Any, Full]:
    inner = inner or Full()
    return cache_catalog(inner, shared or caches(), mount="m1", user=user), inner


@pytest.mark.parametrize(
    "kind", [Bare, Namespaces, Defaults, Tables, TableChanges, Views, Bulk, Paths, Full], ids=lambda k: k.__name__
)
def test_it_has_the_groups_of_the_inner_one(kind: type[Bare]) -> None:
    inner = kind()
    outer = cache_catalog(inner, caches(), mount="m")
    assert [isinstance(outer, g) for g in GROUPS] == [isinstance(inner, g) for g in GROUPS]
    assert isinstance(outer, CachingCatalog)
    assert outer.type == "fake"


def test_reads_are_remembered() -> None:
    outer, inner = full()
    for _ in range(3):
        assert outer.list_namespaces() == [SALES]
        assert outer.namespace_exists(SALES) is True
        assert outer.load_namespace(SALES) == {"comment": "c"}
        assert outer.list_tables(SALES) == ["orders"]
        assert outer.list_views(SALES) == []
        assert list(outer.list_everything()) == [(SALES, "orders", "TABLE")]
        assert outer.load_table(SALES, "orders").handle.metadata == "v1"
    assert set(inner.calls.values()) == {1}
    assert outer.default_namespace == SALES


def test_what_is_given_out_can_be_changed_without_harm() -> None:
    outer, _ = full()
    outer.list_tables(SALES).append("x")
    outer.list_namespaces().clear()
    outer.load_namespace(SALES)["x"] = "y"
    assert (outer.list_tables(SALES), outer.list_namespaces(), outer.load_namespace(SALES)) == (
        ["orders"],
        [SALES],
        {"comment": "c"},
    )


def test_each_load_has_a_handle_of_its_own() -> None:
    outer, inner = full()
    mine, yours = outer.load_table(SALES, "orders"), outer.load_table(SALES, "orders")
    mine.handle.metadata = Metadata("v2")  # as a commit does
    assert yours.handle.metadata == "v1"
    inner.objects[SALES, "orders"] = "v2"
    outer.invalidate_table(SALES, "orders")
    assert outer.load_table(SALES, "orders").handle.metadata == "v2"


def test_paths_are_not_remembered() -> None:
    outer, inner = full()
    outer.load_path("p")
    outer.load_path("p")
    assert inner.calls["load_path"] == 2


def test_a_table_that_is_not_there_is_requested_again() -> None:
    outer, inner = full()
    with pytest.raises(TableNotFound):
        outer.load_table(SALES, "new")
    inner.objects[SALES, "new"] = "v1"
    assert outer.load_table(SALES, "new").name == "new"


CHANGES = {
    "create_table": lambda c: c.create_table(SALES, "new", SPEC),
    "drop_table": lambda c: c.drop_table(SALES, "orders", purge=True),
    "rename_table": lambda c: c.rename_table((SALES, "orders"), (("other",), "moved")),
    "create_view": lambda c: c.create_view(SALES, "v", VIEW),
    "replace_view": lambda c: c.create_view(SALES, "old_view", VIEW, replace=True),
    "drop_view": lambda c: c.drop_view(SALES, "old_view"),
    "rename_view": lambda c: c.rename_view((SALES, "old_view"), (("other",), "moved")),
    "create_namespace": lambda c: c.create_namespace(("a", "b"), {}),
    "drop_namespace": lambda c: c.drop_namespace(("other",)),
    "alter_namespace": lambda c: c.alter_namespace(SALES, {"comment": "d"}, []),
}


def everything(catalog: Any) -> list[object]:
    """All that a catalog says of the namespaces of these tests."""
    spaces = [(), SALES, ("other",), ("a",), ("a", "b")]
    found: list[object] = [list(catalog.list_everything())]
    for space in spaces:
        found += [catalog.list_namespaces(space), catalog.list_tables(space), catalog.list_views(space)]
        found.append(catalog.namespace_exists(space) and catalog.load_namespace(space))
    found += [catalog.load_table(space, n).handle.metadata for space in spaces for n in catalog.list_tables(space)]
    return [*found, *(catalog.load_view(space, n) for space in spaces for n in catalog.list_views(space))]


@pytest.mark.parametrize("broken", [False, True], ids=["done", "broken"])
@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_every_user_sees_what_is(change: str, broken: bool) -> None:
    shared, inner = caches(), Full()
    inner.spaces["other",] = {}
    inner.objects[SALES, "old_view"] = ViewDefinition("select 0", None, (), Schema())
    mine, _ = full("me", shared, inner)
    yours, _ = full("you", shared, inner)
    before = everything(mine)
    assert everything(yours) == before == everything(inner)
    inner.broken = broken
    if broken:
        with pytest.raises(CatalogUnavailable):
            CHANGES[change](mine)
    else:
        CHANGES[change](mine)
    assert everything(mine) == everything(yours) == everything(inner)
    assert everything(inner) != before


class WithoutCase(Full):
    """As Hive and others do it: names mean the same in any case."""

    def list_tables(self, namespace: Namespace) -> list[str]:
        return super().list_tables(tuple(level.lower() for level in namespace))

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        return super().load_table(tuple(level.lower() for level in namespace), name)

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        super().drop_table(tuple(level.lower() for level in namespace), name, purge=purge)


def test_a_change_under_one_spelling_is_seen_under_all() -> None:
    inner = WithoutCase()
    outer: Any = cache_catalog(inner, caches(), mount="m1")
    assert (SALES, outer.list_tables(SALES)) == (("sales",), ["orders"])
    assert outer.load_table(("Sales",), "orders").name == outer.load_table(SALES, "orders").name
    outer.drop_table(("Sales",), "orders")
    assert outer.list_tables(SALES) == []
    with pytest.raises(TableNotFound):
        outer.load_table(SALES, "orders")


def test_users_and_mounts_are_kept_apart() -> None:
    shared, mine_inner, your_inner = caches(), Full(), Full()
    your_inner.objects = {}
    mine, _ = full("me", shared, mine_inner)
    yours, _ = full("you", shared, your_inner)
    again = cache_catalog(your_inner, shared, mount="m2", user="me")
    assert mine.list_tables(SALES) == ["orders"]
    assert yours.list_tables(SALES) == []
    assert again.list_tables(SALES) == []  # type: ignore[attr-defined]


def test_forget_and_close() -> None:
    outer, inner = full()
    outer.list_tables(SALES)
    outer.load_table(SALES, "orders")
    outer.forget()
    outer.list_tables(SALES)
    outer.load_table(SALES, "orders")
    assert (inner.calls["list_tables"], inner.calls["load_table"]) == (2, 2)
    outer.check()
    outer.close()
    assert inner.closed
    assert [s.entries for s in outer._caches.stats()] == [0] * 9


def test_a_table_made_by_a_transaction_shows_when_it_is_committed() -> None:
    outer, inner = full()
    assert outer.list_tables(SALES) == ["orders"]
    assert outer.begin_create_table(SALES, "new", SPEC).metadata == "begun new"
    inner.objects[SALES, "new"] = "v1"  # the commit
    outer.invalidate_table(SALES, "new")
    assert outer.list_tables(SALES) == ["orders", "new"]


def test_who_writes_to_a_place_touches_the_mounts_that_look_there() -> None:
    origins = Origins()
    for mount, origin in (("above", "/data"), ("there", "/data/x"), ("below", "/data/x/y"), ("beside", "/data/xy")):
        origins.add(mount, origin)
    assert origins.around("/data/x", within=False) == ("above", "there")
    assert origins.around("/data/x/", within=True) == ("above", "there", "below")
    assert origins.around("bucket/x", within=True) == ()


def test_listings_and_tables_grow_old() -> None:
    clock = FakeClock()
    shared = caches(clock, table_metadata=CacheConfig(10, 30), listings=ListingsConfig(10, 5))
    outer, inner = full(shared=shared)
    outer.list_tables(SALES)
    outer.load_table(SALES, "orders")
    clock.now = 6
    outer.list_tables(SALES)
    outer.load_table(SALES, "orders")
    assert (inner.calls["list_tables"], inner.calls["load_table"]) == (2, 1)
    clock.now = 31
    outer.load_table(SALES, "orders")
    assert inner.calls["load_table"] == 2


class TestStatements:
    def test_are_parsed_once(self) -> None:
        shared = caches()
        assert shared.statements.classify("select 1") is shared.statements.classify("select 1")

    def test_with_secrets_are_never_kept(self) -> None:
        shared = caches()
        first = shared.statements.classify("create secret")
        assert shared.statements.classify("create secret") is not first
        assert shared.statements.stats().entries == 0

    def test_of_great_length_are_not_kept(self) -> None:
        shared = caches()
        shared.statements.classify("x" * 200_000)
        assert shared.statements.stats().entries == 0

    def test_that_are_wrong_are_not_kept(self) -> None:
        def refuse(text: str) -> Parsed:
            raise ParseError(text)

        shared = make_caches(CachesConfig(), refuse)
        for _ in range(2):
            with pytest.raises(ParseError):
                shared.statements.classify("selec")
        assert shared.statements.stats().failures == 2


def test_every_cache_has_its_name_and_limits_from_the_configuration() -> None:
    shared = caches(listings=ListingsConfig(max_entries=7, ttl=3))
    assert [s.name for s in shared.stats()] == [
        "statements", "listings", "table_metadata", "clients", "session_catalogs", "plans", "manifests", "footers",
        "results",
    ]  # fmt: skip
    assert (shared.stats()[1].capacity, shared.stats()[1].ttl) == (7, 3)
    shared.statements.classify("select 1")
    shared.clear()
    assert [s.entries for s in shared.stats()] == [0] * 9


def test_files_of_object_stores_are_each_readers_own() -> None:
    manifests = caches().manifests
    alice, bob = manifests.of("alice"), manifests.of("bob")
    for path in ("/lake/m.avro", "file:///lake/m.avro"):
        assert alice.get("manifest", path, lambda: _Bytes(1)) is bob.get("manifest", path, lambda: _Bytes(2))
    for path in ("s3://lake/m.avro", "http://127.0.0.1:9000 s3://lake/m.avro", "gs://lake/m.avro"):
        assert alice.get("manifest", path, lambda: _Bytes(1)).nbytes == 1
        assert bob.get("manifest", path, lambda: _Bytes(2)).nbytes == 2
        assert manifests.of("alice").get("manifest", path, lambda: _Bytes(3)).nbytes == 1
    assert manifests.stats().entries == 8


@dataclass(frozen=True)
class _Bytes:
    nbytes: int
