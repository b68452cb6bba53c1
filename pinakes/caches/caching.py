"""The base class of caching catalogs; `catalog_groups.py` adds the groups of methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from pinakes.caches.base import Cache
from pinakes.caches.listings import ListingKey, What
from pinakes.caches.registry import Caches
from pinakes.caches.table_metadata import TableKey
from pinakes.core.catalog import SupportsVersion
from pinakes.core.delegating_catalog import DelegatingCatalog
from pinakes.core.names import Namespace

T = TypeVar("T")

STATEMENT: ContextVar[object] = ContextVar("statement", default=None)
"""The current statement. The code that runs statements sets it; without one, each call counts as a statement of its
own.
"""

_LISTINGS: dict[str, What] = {
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
    """The base class of caching catalogs; `remembering` adds the groups."""

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

    def _listing(self, what: What, namespace: Namespace, load: Callable[[], T]) -> T:
        key, listings = ListingKey(self._mount, self._user, what, namespace), self._caches.listings
        return self._remembered(listings.cache, key, lambda: listings.get(key, load), load)

    def _remembered(self, cache: Cache[Any, Any], key: object, read: Callable[[], T], load: Callable[[], T]) -> T:
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
