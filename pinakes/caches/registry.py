"""All caches of an engine, by name. A new cache is one more field here; system.runtime.caches has a row for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Generic

from pinakes.caches.cache import Cache, CacheStats, Clock
from pinakes.caches.files import FooterCache, ManifestCache
from pinakes.caches.memory import Budget
from pinakes.caches.metadata import ClientCache, ListingCache, SessionCatalogCache, TableMetadataCache
from pinakes.caches.origins import Origins
from pinakes.caches.statements import PlanCache, ResultCache, S, StatementCache
from pinakes.config.model import CachesConfig
from pinakes.core.names import Namespace


@dataclass(frozen=True, slots=True)
class Caches(Generic[S]):
    """The caches. `S` is the type of statements, of which this layer uses only what `StatementCache` requires."""

    budget: Budget
    origins: Origins
    statements: StatementCache[S]
    listings: ListingCache
    table_metadata: TableMetadataCache
    clients: ClientCache
    session_catalogs: SessionCatalogCache
    plans: PlanCache
    manifests: ManifestCache
    footers: FooterCache
    results: ResultCache

    def every(self) -> Iterator[Cache[Any, Any]]:
        """Yields the caches."""
        for f in fields(self):
            if f.name not in ("budget", "origins"):
                yield getattr(self, f.name).cache

    def stats(self) -> list[CacheStats]:
        return [cache.stats() for cache in self.every()]

    def forget(self, mount: str) -> None:
        """Invalidates all entries of a mount, for every user."""
        self.listings.forget(mount)
        self.table_metadata.forget(mount)
        self.session_catalogs.forget(mount)
        self.plans.forget(mount)

    def detach(self, mount: str) -> None:
        """Removes all entries of a detached mount."""
        self.origins.remove(mount)  # first: values stored from now on are not kept
        self.forget(mount)
        self.clients.forget(mount)
        self.results.forget(mount)

    def forget_kin(self, mount: str, origin: str) -> None:
        """Invalidates all entries of a mount and of the other mounts of the same catalog."""
        for each in self.origins.kin(mount, origin):
            self.forget(each)

    def forget_object(self, mount: str, origin: str, namespace: Namespace, name: str) -> None:
        """Invalidates a table or view that was created, changed or dropped, and the listings that contain it."""
        for each in self.origins.kin(mount, origin):
            self.table_metadata.forget_object(each, namespace, name)
            self.listings.forget_objects(each, namespace)
            self.session_catalogs.forget_object(each, namespace, name)

    def forget_place(self, place: str, *, within: bool) -> None:
        """Invalidates the mounts of a directory after files were written in it; with `within`, also those of
        directories below it.
        """
        for each in self.origins.around(place, within=within):
            self.forget(each)

    def forget_namespaces(self, mount: str, origin: str, *dropped: Namespace) -> None:
        """Invalidates the namespace listings after a namespace was created, altered or dropped."""
        for each in self.origins.kin(mount, origin):
            self.listings.forget_namespaces(each)
            for namespace in dropped:
                self.listings.forget_objects(each, namespace)

    def clear(self) -> None:
        for cache in self.every():
            cache.clear()


def make_caches(config: CachesConfig, classify: Callable[[str], S], clock: Clock = time.monotonic) -> Caches[S]:
    budget, origins = Budget(config.memory_budget), Origins()
    return Caches(
        budget,
        origins,
        StatementCache(config.statements, classify, clock, budget),
        ListingCache(config.listings, clock, budget),
        TableMetadataCache(config.table_metadata, clock, budget),
        ClientCache(config.clients, origins, clock, budget),
        SessionCatalogCache(config.session_catalogs, origins, clock, budget),
        PlanCache(config.plans, origins, clock, budget),
        ManifestCache(config.manifests, clock, budget),
        FooterCache(config.footers, clock, budget),
        ResultCache(config.results, origins, clock, budget),
    )
