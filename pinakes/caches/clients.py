"""Open catalogs, one per token for mounts that forward tokens. Opening one takes at least one round trip."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.origins import Origins
from pinakes.config.model import CacheConfig
from pinakes.core.catalog import Catalog


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
            "clients", config.max_entries, config.ttl, measure=lambda _: measure.CLIENT, clock=clock, budget=budget
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
