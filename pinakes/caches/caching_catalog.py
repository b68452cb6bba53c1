"""A caching wrapper for any catalog: reads go through the caches, changes go to the inner catalog.

`cache_catalog(inner, …)` returns a catalog with exactly those groups of `core/catalog.py` that the inner one has
(`core/delegating_catalog.py`). A change invalidates the affected entries for every user, also when it fails, since it
may have been applied in part. Commits through a table's own handle are not seen here: the code that commits calls
`forget_table` afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from pinakes.caches.cache import Cache
from pinakes.caches.metadata import Listing, ListingKey, TableKey
from pinakes.caches.registry import Caches
from pinakes.core.catalog import (
    Catalog,
    IcebergTable,
    SupportsAllNamespaces,
    SupportsBulkListing,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsTableActions,
    SupportsTableChanges,
    SupportsTables,
    SupportsTransactions,
    SupportsVersion,
    SupportsViews,
    SupportsViewTexts,
    Table,
    TableChange,
    TableSpec,
    ViewDefinition,
)
from pinakes.core.delegating_catalog import DelegatingCatalog, class_around
from pinakes.core.names import Namespace

if TYPE_CHECKING:
    from pyarrow import Schema as ArrowSchema
    from pyiceberg.table import CreateTableTransaction

    from pinakes.core.worker_tables import TableAction


P = ParamSpec("P")
T = TypeVar("T")

STATEMENT: ContextVar[object] = ContextVar("statement", default=None)
"""The current statement. The code that runs statements sets it; without one, each call counts as a statement of its
own.
"""

_LISTINGS: dict[str, Listing] = {
    "list_namespaces": "namespaces",
    "list_all_namespaces": "all namespaces",
    "namespace_exists": "exists",
    "load_namespace": "properties",
    "list_tables": "tables",
    "list_views": "views",
    "list_everything": "everything",
}
"""The listing that each method reads."""


class CachingCatalog(DelegatingCatalog):
    """The base class of caching catalogs; `cache_catalog` adds the groups."""

    def __init__(self, inner: Any, caches: Caches[Any], mount: str, user: str, origin: str) -> None:
        super().__init__(inner)
        self._caches = caches
        self._mount = mount
        self._user = user
        self._origin = origin
        self._has_version = isinstance(inner, SupportsVersion)
        self._version: int | None = None
        self._statement: object = None
        """The statement in which the catalog's version was last read."""
        caches.origins.add(mount, origin)

    def close(self) -> None:
        self._caches.detach(self._mount)
        self.inner.close()

    def forget(self) -> None:
        """Invalidates all entries of this catalog, for every user and under every mount name."""
        self._caches.forget_kin(self._mount, self._origin)

    def invalidate_table(self, namespace: Namespace, name: str) -> None:
        """Invalidates a table or view that was created, changed or dropped, and the listings that contain it."""
        self._caches.forget_object(self._mount, self._origin, namespace, name)

    def peek(self, method: str, *arguments: Any) -> Any:
        """Returns the cached result of a method, or None."""
        what = _LISTINGS.get(method)
        if what is not None:
            found = self._caches.listings.cache.peek(ListingKey(self._mount, self._user, what, *(arguments or ((),))))
            return dict(found) if what == "properties" and isinstance(found, tuple) else found
        if method in ("load_table", "load_view"):
            return self._caches.table_metadata.cache.peek(self._key(*arguments, is_view=method == "load_view"))
        return None

    def peek_loaded(self) -> set[tuple[Namespace, str]]:
        """The tables and views whose metadata is cached for this user."""
        keys = self._caches.table_metadata.cache.keys()
        return {(key.namespace, key.name) for key in keys if (key.mount, key.user) == (self._mount, self._user)}

    def _listing(self, what: Listing, namespace: Namespace, load: Callable[[], T]) -> T:
        key, listings = ListingKey(self._mount, self._user, what, namespace), self._caches.listings
        return self._read_through(listings.cache, key, lambda: listings.get(key, load), load)

    def _read_through(self, cache: Cache[Any, Any], key: object, read: Callable[[], T], load: Callable[[], T]) -> T:
        """Reads through a cache. Nothing is kept for a catalog that is detached before or during the read."""
        if not self._caches.origins.has(self._mount):
            return load()
        if self._has_version:
            self._settle()
        found = read()
        if not self._caches.origins.has(self._mount):
            cache.invalidate(key)
        return found

    def _settle(self) -> None:
        """Reads the version of a versioned catalog once per statement, and invalidates all entries when it changes."""
        statement = STATEMENT.get()
        if statement is not None and statement is self._statement:
            return
        version = self.inner.version()
        self._statement = statement
        if version != self._version:
            if self._version is not None:
                self.forget()
            self._version = version

    def _key(self, namespace: Namespace, name: str, *, is_view: bool = False) -> TableKey:
        return TableKey(self._mount, self._user, namespace, name, is_view)

    def _stay_open(self, user: object) -> None:
        """Keeps this catalog open while `user` exists: an unreferenced catalog is closed, but a commit through a handle
        needs it.
        """
        user.__dict__["_opened_by"] = self

    @contextmanager
    def _changing(self, *objects: tuple[Namespace, str]) -> Iterator[None]:
        """Invalidates these objects when the change succeeds or fails."""
        try:
            yield
        finally:
            for namespace, name in objects:
                self.invalidate_table(namespace, name)


# --- groups of methods -------------------------------------------------------------------------------------------


class Namespaces(CachingCatalog):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        return list(self._listing("namespaces", parent, lambda: tuple(self.inner.list_namespaces(parent))))

    def namespace_exists(self, namespace: Namespace) -> bool:
        return self._listing("exists", namespace, lambda: bool(self.inner.namespace_exists(namespace)))

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return dict(self._listing("properties", namespace, lambda: tuple(self.inner.load_namespace(namespace).items())))


class NamespaceChanges(Namespaces):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        with self._changing_namespaces():
            self.inner.create_namespace(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        with self._changing_namespaces(namespace):
            self.inner.drop_namespace(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        with self._changing_namespaces():
            self.inner.alter_namespace(namespace, updates, removals)

    @contextmanager
    def _changing_namespaces(self, *dropped: Namespace) -> Iterator[None]:
        try:
            yield
        finally:
            self._caches.forget_namespaces(self._mount, self._origin, *dropped)


class AllNamespaces(Namespaces):
    def list_all_namespaces(self) -> list[Namespace]:
        return list(self._listing("all namespaces", (), lambda: tuple(self.inner.list_all_namespaces())))


class Tables(CachingCatalog):
    def list_tables(self, namespace: Namespace) -> list[str]:
        return list(self._listing("tables", namespace, lambda: tuple(self.inner.list_tables(namespace))))

    def load_table(self, namespace: Namespace, name: str) -> Table:
        key, known = self._key(namespace, name), self._caches.table_metadata

        def load() -> Table:
            return cast("Table", self.inner.load_table(namespace, name))

        found = self._read_through(known.cache, key, lambda: known.table(key, load), load)
        if isinstance(found, IcebergTable):
            self._stay_open(found.handle)
        return found


class TableChanges(Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table:
        with self._changing((namespace, name)):
            made: Table = self.inner.create_table(namespace, name, spec)
        return made

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        """Begins a creation. The table does not exist before the commit; the code that commits calls
        `invalidate_table`.
        """
        begun: CreateTableTransaction = self.inner.begin_create_table(namespace, name, spec)
        self._stay_open(begun)
        return begun

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_table(namespace, name, purge=purge)

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_table(source, target)


class TableActions(TableChanges):
    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        with self._changing((namespace, name)):
            self.inner.define_table(namespace, name, columns, comment, replace=replace)

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None:
        with self._changing((namespace, name)):
            self.inner.alter_table(namespace, name, action)


class Transactions(TableChanges):
    @property
    def creates_in_transactions(self) -> bool:
        return bool(self.inner.creates_in_transactions)

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        names = [change.table.name() for change in changes]
        with self._changing(*((tuple(name[:-1]), name[-1]) for name in names)):
            self.inner.commit_tables(changes)


class Views(CachingCatalog):
    def list_views(self, namespace: Namespace) -> list[str]:
        return list(self._listing("views", namespace, lambda: tuple(self.inner.list_views(namespace))))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        key, known = self._key(namespace, name, is_view=True), self._caches.table_metadata

        def load() -> ViewDefinition:
            return cast("ViewDefinition", self.inner.load_view(namespace, name))

        return self._read_through(known.cache, key, lambda: known.view(key, load), load)

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.create_view(namespace, name, view, replace=replace)

    def drop_view(self, namespace: Namespace, name: str) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_view(namespace, name)

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_view(source, target)


class ViewTexts(Views):
    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None:
        with self._changing((namespace, name)):
            self.inner.set_view_comment(namespace, name, comment)


class BulkListing(Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        return self._listing("everything", (), lambda: tuple(self.inner.list_everything()))


GROUPS: dict[Any, type[CachingCatalog]] = {
    SupportsTransactions: Transactions,
    SupportsTableActions: TableActions,
    SupportsTableChanges: TableChanges,
    SupportsBulkListing: BulkListing,
    SupportsTables: Tables,
    SupportsNamespaceChanges: NamespaceChanges,
    SupportsAllNamespaces: AllNamespaces,
    SupportsNamespaces: Namespaces,
    SupportsViewTexts: ViewTexts,
    SupportsViews: Views,
}
"""The class that implements each group. Contents of a path change independently of the catalog, so they are never
cached.
"""


# --- the wrapper -------------------------------------------------------------------------------------------------


def cache_catalog(
    inner: Catalog, caches: Caches[Any], *, mount: str, user: str = "", origin: str = ""
) -> CachingCatalog:
    """Returns a caching catalog with the groups of `inner`.

    `mount` must be unique for each mounting, also of the same name; `user` is the fingerprint of the token in use;
    `origin` is the same for all mounts of one catalog.
    """
    return class_around(inner, CachingCatalog, GROUPS)(inner, caches, mount, user, origin or mount)


def peek_cached(method: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | None:
    """Returns the cached result of a catalog method without calling the catalog; None if it is not cached.

    A returned table is read-only: its handle is shared.
    """
    owner = getattr(method, "__self__", None)
    if not isinstance(owner, CachingCatalog) or named:
        return None
    found: T | None = owner.peek(method.__name__, *arguments)
    return found


def list_cached_tables(catalog: Catalog) -> set[tuple[Namespace, str]]:
    """The tables of a catalog that `peek_cached` may return; calling it for each of very many tables is slow."""
    return catalog.peek_loaded() if isinstance(catalog, CachingCatalog) else set()


def forget_catalog(catalog: Catalog) -> None:
    """Invalidates all entries of a catalog, so that the next reads see its current state."""
    caching = _find_caching(catalog)
    if caching is not None:
        caching.forget()


def forget_table(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """Invalidates a table that was changed or may have been."""
    caching = _find_caching(catalog)
    if caching is not None:
        caching.invalidate_table(namespace, name)


def _find_caching(catalog: Catalog) -> CachingCatalog | None:
    """Returns the caching catalog, which may be inside a transaction's overlay."""
    found: Any = catalog
    while isinstance(found, DelegatingCatalog) and not isinstance(found, CachingCatalog):
        found = found.inner
    return found if isinstance(found, CachingCatalog) else None
