"""The cache of catalog listings: namespaces, tables and views, per mount and user."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar, cast

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.reads import noted
from pinakes.config.model import ListingsConfig
from pinakes.core.names import Namespace, may_be

T = TypeVar("T")

What = Literal["namespaces", "all namespaces", "exists", "properties", "tables", "views", "everything"]

OF_NAMESPACES: frozenset[What] = frozenset({"namespaces", "all namespaces", "exists", "properties", "everything"})
"""The listings that a change of a namespace may affect."""


class ListingKey(NamedTuple):
    """The key. `mount` is unique even for two catalogs that successively had the same name; `user` is the token's
    fingerprint.
    """

    mount: str
    user: str
    what: What
    namespace: Namespace


class ListingCache:
    """The cache of listings. Values are immutable."""

    def __init__(self, config: ListingsConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self.cache: Cache[ListingKey, object] = Cache(
            "listings",
            config.max_entries,
            config.ttl,
            measure=measure.names,
            stale=config.stale,
            clock=clock,
            budget=budget,
        )

    def get(self, key: ListingKey, load: Callable[[], T]) -> T:
        found = self.cache.get(key, load)
        noted(self.cache, key, found)
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
