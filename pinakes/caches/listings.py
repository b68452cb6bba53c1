"""Listings of catalogs: which namespaces, tables and views there are, per mount and user."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar, cast

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.reads import noted
from pinakes.core.config import ListingsConfig
from pinakes.core.names import Namespace, may_be

T = TypeVar("T")

What = Literal["namespaces", "all namespaces", "exists", "properties", "tables", "views", "everything"]

OF_NAMESPACES: frozenset[What] = frozenset({"namespaces", "all namespaces", "exists", "properties", "everything"})
"""The listings that may change with a namespace."""


class ListingKey(NamedTuple):
    """`mount` tells apart two catalogs that had the same name in turn; `user` is the token's fingerprint."""

    mount: str
    user: str
    what: What
    namespace: Namespace


class ListingCache:
    """Values are tuples and other things that nobody can change."""

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
        """The tables and views of a namespace changed. Every user's listing goes, not only that of who changed it."""
        is_it = may_be(namespace)
        self.cache.invalidate_if(
            lambda k: (
                k.mount == mount and (k.what == "everything" or (k.what in ("tables", "views") and is_it(k.namespace)))
            )
        )

    def forget_namespaces(self, mount: str) -> None:
        """A namespace was made, dropped or altered. Making one may make its parents, so all levels go."""
        self.cache.invalidate_if(lambda k: k.mount == mount and k.what in OF_NAMESPACES)

    def forget(self, mount: str) -> None:
        """Everything that is known of a mount."""
        self.cache.invalidate_if(lambda k: k.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()
