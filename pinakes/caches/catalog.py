"""A catalog that remembers, around any catalog: reads go through the caches, changes through to the inner one.

`remembering(inner, …)` gives a catalog with exactly those groups of `core/catalog.py` that the inner one has: its class
is put together from one mix-in per group. A change forgets what it touched for every user, also when it fails, since it
may have failed half-way. Commits that go through a table's own handle are not seen here: whoever commits calls
`invalidate_table` afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.caches.listings import ListingKey, What
from pinakes.caches.registry import Caches
from pinakes.caches.table_metadata import TableKey
from pinakes.core.catalog import (
    Catalog,
    ExplainsReading,
    SupportsBulkListing,
    SupportsDefaultNamespace,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsPathIdentifiers,
    SupportsTableChanges,
    SupportsTables,
    SupportsViews,
    Table,
    TableSpec,
    ViewDefinition,
)
from pinakes.core.names import Namespace

if TYPE_CHECKING:
    from pyiceberg.table import CreateTableTransaction

T = TypeVar("T")


class CachingCatalog:
    """What every catalog that remembers has; `remembering` adds the groups."""

    def __init__(self, inner: Any, caches: Caches[Any], mount: str, user: str) -> None:
        self.inner = inner
        self._caches = caches
        self._mount = mount
        self._user = user

    @property
    def type(self) -> str:
        return str(self.inner.type)

    def check(self) -> None:
        self.inner.check()

    def close(self) -> None:
        self.forget()
        self.inner.close()

    def forget(self) -> None:
        """Forget all that is known of this mount, for every user."""
        self._caches.forget(self._mount)

    def invalidate_table(self, namespace: Namespace, name: str) -> None:
        """A table or view was made, changed or dropped: forget it, and the listings it stands in."""
        self._caches.table_metadata.forget_object(self._mount, namespace, name)
        self._caches.listings.forget_objects(self._mount, namespace)

    def _listing(self, what: What, namespace: Namespace, load: Callable[[], T]) -> T:
        return self._caches.listings.get(ListingKey(self._mount, self._user, what, namespace), load)

    def _key(self, namespace: Namespace, name: str, *, is_view: bool = False) -> TableKey:
        return TableKey(self._mount, self._user, namespace, name, is_view)

    @contextmanager
    def _changing(self, *objects: tuple[Namespace, str]) -> Iterator[None]:
        """Forget these when the change is done or has failed."""
        try:
            yield
        finally:
            for namespace, name in objects:
                self.invalidate_table(namespace, name)


class _Namespaces(CachingCatalog):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        return list(self._listing("namespaces", parent, lambda: tuple(self.inner.list_namespaces(parent))))

    def namespace_exists(self, namespace: Namespace) -> bool:
        return self._listing("exists", namespace, lambda: bool(self.inner.namespace_exists(namespace)))

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return dict(self._listing("properties", namespace, lambda: tuple(self.inner.load_namespace(namespace).items())))


class _NamespaceChanges(_Namespaces):
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
            self._caches.listings.forget_namespaces(self._mount)
            for namespace in dropped:
                self._caches.listings.forget_objects(self._mount, namespace)


class _DefaultNamespace(CachingCatalog):
    @property
    def default_namespace(self) -> Namespace:
        found: Namespace = self.inner.default_namespace
        return found


class _Tables(CachingCatalog):
    def list_tables(self, namespace: Namespace) -> list[str]:
        return list(self._listing("tables", namespace, lambda: tuple(self.inner.list_tables(namespace))))

    def load_table(self, namespace: Namespace, name: str) -> Table:
        key = self._key(namespace, name)
        return self._caches.table_metadata.table(key, lambda: self.inner.load_table(namespace, name))


class _TableChanges(_Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table:
        with self._changing((namespace, name)):
            made: Table = self.inner.create_table(namespace, name, spec)
        return made

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        """Nothing is there before the transaction is committed; who commits it calls `invalidate_table`."""
        begun: CreateTableTransaction = self.inner.begin_create_table(namespace, name, spec)
        return begun

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_table(namespace, name, purge=purge)

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_table(source, target)


class _Views(CachingCatalog):
    def list_views(self, namespace: Namespace) -> list[str]:
        return list(self._listing("views", namespace, lambda: tuple(self.inner.list_views(namespace))))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        key = self._key(namespace, name, is_view=True)
        return self._caches.table_metadata.view(key, lambda: self.inner.load_view(namespace, name))

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.create_view(namespace, name, view, replace=replace)

    def drop_view(self, namespace: Namespace, name: str) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_view(namespace, name)

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_view(source, target)


class _BulkListing(_Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        return self._listing("everything", (), lambda: tuple(self.inner.list_everything()))


class _PathIdentifiers(CachingCatalog):
    def load_path(self, path: str) -> Table:
        """Not remembered: what is at a path changes without the catalog."""
        found: Table = self.inner.load_path(path)
        return found


class _Reading(CachingCatalog):
    @property
    def why_read_only(self) -> str:
        return str(self.inner.why_read_only)


_GROUPS: tuple[tuple[Any, type[CachingCatalog]], ...] = (
    (SupportsTableChanges, _TableChanges),
    (SupportsBulkListing, _BulkListing),
    (SupportsTables, _Tables),
    (SupportsNamespaceChanges, _NamespaceChanges),
    (SupportsNamespaces, _Namespaces),
    (SupportsDefaultNamespace, _DefaultNamespace),
    (SupportsViews, _Views),
    (SupportsPathIdentifiers, _PathIdentifiers),
    (ExplainsReading, _Reading),
)
"""Each group and the mix-in for it; those that build on another stand before it, as Python's bases have to."""


def remembering(inner: Catalog, caches: Caches[Any], *, mount: str, user: str = "") -> CachingCatalog:
    """A catalog that remembers, with the groups of `inner`.

    `mount` must differ for each mounting, also of the same name; `user` is the fingerprint of the token in use.
    """
    groups = tuple(mixin for protocol, mixin in _GROUPS if isinstance(inner, protocol))
    return _class_of(groups)(inner, caches, mount, user)


@cache
def _class_of(groups: tuple[type[CachingCatalog], ...]) -> type[CachingCatalog]:
    return type("CachingCatalog", groups or (CachingCatalog,), {"__doc__": CachingCatalog.__doc__})


def forget_catalog(catalog: Catalog) -> None:
    """What follows must be as the catalog has it now."""
    if isinstance(catalog, CachingCatalog):
        catalog.forget()


def forget_table(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """A table was changed or is suspected to have been: nobody reads it from a cache again."""
    if isinstance(catalog, CachingCatalog):
        catalog.invalidate_table(namespace, name)
