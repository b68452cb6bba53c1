"""Listings of catalogs: which namespaces, tables and views there are, per mount and user."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar, cast

from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.core.config import CacheConfig
from pinakes.core.names import Namespace

T = TypeVar("T")

What = Literal["namespaces", "exists", "properties", "tables", "views", "everything"]

OF_NAMESPACES: frozenset[What] = frozenset({"namespaces", "exists", "properties", "everything"})
"""The listings that may change with a namespace."""


class ListingKey(NamedTuple):
    """`mount` tells apart two catalogs that had the same name in turn; `user` is the token's fingerprint."""

    mount: str
    user: str
    what: What
    namespace: Namespace


class ListingCache:
    """Values are tuples and other things that nobody can change."""

    def __init__(self, config: CacheConfig, clock: Clock = time.monotonic) -> None:
        self.cache: Cache[ListingKey, object] = Cache("listings", config.entries, config.ttl, clock=clock)

    def get(self, key: ListingKey, load: Callable[[], T]) -> T:
        return cast(T, self.cache.get(key, load))

    def forget_objects(self, mount: str, namespace: Namespace) -> None:
        """The tables and views of a namespace changed. Every user's listing goes, not only that of who changed it."""
        self.cache.invalidate_if(
            lambda k: (
                k.mount == mount
                and (k.what == "everything" or (k.namespace == namespace and k.what in ("tables", "views")))
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
