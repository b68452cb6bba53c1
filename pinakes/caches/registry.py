"""All caches of an engine, by name. A new cache is one more field here; system.runtime.caches has a row for each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic

from pinakes.caches.base import CacheStats, Clock
from pinakes.caches.listings import ListingCache
from pinakes.caches.manifests import ManifestCache
from pinakes.caches.statements import S, StatementCache
from pinakes.caches.table_metadata import TableMetadataCache
from pinakes.core.config import CachesConfig


@dataclass(frozen=True, slots=True)
class Caches(Generic[S]):
    """`S` is the type of statements, which this layer knows only by what `StatementCache` needs of them."""

    statements: StatementCache[S]
    listings: ListingCache
    table_metadata: TableMetadataCache
    manifests: ManifestCache

    def stats(self) -> list[CacheStats]:
        return [getattr(self, f.name).stats() for f in fields(self)]

    def forget(self, mount: str) -> None:
        """Everything that is known of a mount, for every user."""
        self.listings.forget(mount)
        self.table_metadata.forget(mount)

    def clear(self) -> None:
        for f in fields(self):
            getattr(self, f.name).cache.clear()


def make_caches(config: CachesConfig, classify: Callable[[str], S], clock: Clock = time.monotonic) -> Caches[S]:
    return Caches(
        StatementCache(config.statements, classify, clock),
        ListingCache(config.listings, clock),
        TableMetadataCache(config.table_metadata, clock),
        ManifestCache(config.manifests, clock),
    )
