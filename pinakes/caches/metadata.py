"""The caches of what catalogs return, per mount and user: listings, tables and views, tables as plans read them, and
open clients.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Literal, NamedTuple, TypeVar, cast

from pinakes.caches import memory
from pinakes.caches.cache import Cache, CacheStats, Clock
from pinakes.caches.memory import Budget
from pinakes.caches.origins import Origins
from pinakes.caches.reads import record_read
from pinakes.config.model import CacheConfig, ListingsConfig
from pinakes.core.catalog import Catalog, FilesTable, IcebergTable, Table, ViewDefinition
from pinakes.core.names import Namespace, may_be

# --- listings ----------------------------------------------------------------------------------------------------


T = TypeVar("T")

Listing = Literal["namespaces", "all namespaces", "exists", "properties", "tables", "views", "everything"]

OF_NAMESPACES: frozenset[Listing] = frozenset({"namespaces", "all namespaces", "exists", "properties", "everything"})
"""The listings that a change of a namespace may affect."""


class ListingKey(NamedTuple):
    """The key. `mount` is unique even for two catalogs that successively had the same name; `user` is the token's
    fingerprint.
    """

    mount: str
    user: str
    what: Listing
    namespace: Namespace


class ListingCache:
    """The cache of listings. Values are immutable."""

    def __init__(self, config: ListingsConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self.cache: Cache[ListingKey, object] = Cache(
            "listings",
            config.max_entries,
            config.ttl,
            measure=memory.size_of_names,
            stale=config.stale,
            clock=clock,
            budget=budget,
        )

    def get(self, key: ListingKey, load: Callable[[], T]) -> T:
        found = self.cache.get(key, load)
        record_read(self.cache, key, found)
        return cast(T, found)

    def forget_objects(self, mount: str, namespace: Namespace) -> None:
        """Invalidates the listings of a namespace's tables and views, for every user."""
        is_it = may_be(namespace)
        self.cache.invalidate_if(
            lambda k: (
                k.mount == mount and (k.what == "everything" or (k.what in ("tables", "views") and is_it(k.namespace)))
            )
        )

    def forget_namespaces(self, mount: str) -> None:
        """Invalidates the namespace listings of a mount. Creating a namespace may create its parents, so all levels are
        removed.
        """
        self.cache.invalidate_if(lambda k: k.mount == mount and k.what in OF_NAMESPACES)

    def forget(self, mount: str) -> None:
        """Invalidates all listings of a mount."""
        self.cache.invalidate_if(lambda k: k.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()


# --- tables and views --------------------------------------------------------------------------------------------


class TableKey(NamedTuple):
    """The key. `mount` is unique even for two catalogs that successively had the same name; `user` is the token's
    fingerprint.
    """

    mount: str
    user: str
    namespace: Namespace
    name: str
    is_view: bool = False


def _may_keep_table(found: Table | ViewDefinition) -> bool:
    """Whether a table may be cached. Files change independently of their catalog, and listing them is cheap."""
    return not isinstance(found, FilesTable)


class TableMetadataCache:
    def __init__(self, config: CacheConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self.cache: Cache[TableKey, Table | ViewDefinition] = Cache(
            "table_metadata",
            config.max_entries,
            config.ttl,
            measure=memory.size_of_metadata,
            keep=_may_keep_table,
            clock=clock,
            budget=budget,
        )

    def table(self, key: TableKey, load: Callable[[], Table]) -> Table:
        """Returns the table with its own handle: a commit advances the handle, and must not advance those of others."""
        found = self.cache.get(key, load)
        record_read(self.cache, key, found)
        assert not isinstance(found, ViewDefinition)  # views have separate keys
        return replace(found, handle=copy.copy(found.handle)) if isinstance(found, IcebergTable) else found

    def view(self, key: TableKey, load: Callable[[], ViewDefinition]) -> ViewDefinition:
        found = self.cache.get(key, load)
        record_read(self.cache, key, found)
        assert isinstance(found, ViewDefinition)  # tables have separate keys
        return found

    def forget_object(self, mount: str, namespace: Namespace, name: str) -> None:
        """Invalidates a changed table or view, for every user."""
        is_it = may_be((*namespace, name))
        self.cache.invalidate_if(lambda k: k.mount == mount and is_it((*k.namespace, k.name)))

    def forget(self, mount: str) -> None:
        """Invalidates all entries of a mount."""
        self.cache.invalidate_if(lambda k: k.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()


# --- tables as plans read them -----------------------------------------------------------------------------------


class SessionCatalogKey(NamedTuple):
    user: str
    """The token's fingerprint."""
    mount: str
    namespace: Namespace
    name: str
    version: Hashable
    """Everything that it was made from: the metadata file and the relevant settings."""


class SessionCatalogCache:
    def __init__(
        self, config: CacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[SessionCatalogKey, object] = Cache(
            "session_catalogs",
            config.max_entries,
            config.ttl,
            measure=lambda found: memory.NOTHING if found is None else memory.PLAN,
            clock=clock,
            budget=budget,
        )

    def get(self, key: SessionCatalogKey, make: Callable[[], T]) -> T:
        """Returns the cached value, or the result of `make`, which is kept unless the mount is detached meanwhile. None
        is also kept: it means that each statement builds its own.
        """
        found = cast(T, self.cache.get(key, make))
        if not self._origins.has(key.mount):
            self.cache.invalidate(key)
        return found

    def forget_object(self, mount: str, namespace: Namespace, name: str) -> None:
        self.cache.invalidate_if(lambda k: (k.mount, k.namespace, k.name) == (mount, namespace, name))

    def forget(self, mount: str) -> None:
        self.cache.invalidate_if(lambda k: k.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()


# --- open catalogs -----------------------------------------------------------------------------------------------


class ClientKey(NamedTuple):
    mount: str
    user: str
    """The token's fingerprint."""


class ClientCache:
    """The cache of open catalogs. The code that opens a catalog ensures that an evicted one is closed when it is no
    longer in use.
    """

    def __init__(
        self, config: CacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[ClientKey, Catalog] = Cache(
            "clients", config.max_entries, config.ttl, measure=lambda _: memory.CLIENT, clock=clock, budget=budget
        )

    def get(self, mount: str, user: str, open: Callable[[], Catalog]) -> Catalog:
        """Returns the user's client. It is not kept if the mount is detached meanwhile."""
        found = self.cache.get(ClientKey(mount, user), open)
        if self._origins.is_gone(mount):
            self.cache.invalidate(ClientKey(mount, user))
        return found

    def forget(self, mount: str) -> None:
        """Invalidates all users' clients of a mount."""
        self.cache.invalidate_if(lambda key: key.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()
