"""The cache of tables in the form that plans read, per user (the SHA-256 of the token), since they are costly to make.

Sessions of one user share them; each session has its own DataFusion context. The key contains the table's metadata
file, so an entry never has another version than the catalog describes; a change of the table only frees the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeVar, cast

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.origins import Origins
from pinakes.config.model import CacheConfig
from pinakes.core.names import Namespace

T = TypeVar("T")


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
            measure=lambda found: measure.NOTHING if found is None else measure.PLAN,
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
