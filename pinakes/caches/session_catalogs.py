"""What is costly to make of a catalog for a user: tables as plans read them, by the token's SHA-256.

Sessions of one user share them; each session's DataFusion context stays its own. A key names the table's metadata file,
so what is found is never of another version than what the catalog described; a change of the table frees the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeVar, cast

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.origins import Origins
from pinakes.core.config import CacheConfig
from pinakes.core.names import Namespace

T = TypeVar("T")


class SessionCatalogKey(NamedTuple):
    user: str
    """The token's fingerprint."""
    mount: str
    namespace: Namespace
    name: str
    version: Hashable
    """All that it was made of: the metadata file, the settings that matter."""


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
        """What `make` gives is kept, unless the mount goes meanwhile; None, too, which tells that each statement has to
        do without."""
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
