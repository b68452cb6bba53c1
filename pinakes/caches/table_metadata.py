"""The cache of tables and views as described by their catalogs, per mount and user."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.reads import noted
from pinakes.config.model import CacheConfig
from pinakes.core.catalog import FilesTable, IcebergTable, Table, ViewDefinition
from pinakes.core.names import Namespace, may_be


class TableKey(NamedTuple):
    """The key. `mount` is unique even for two catalogs that successively had the same name; `user` is the token's
    fingerprint.
    """

    mount: str
    user: str
    namespace: Namespace
    name: str
    is_view: bool = False


def _lasts(found: Table | ViewDefinition) -> bool:
    """Whether a table may be cached. Files change independently of their catalog, and listing them is cheap."""
    return not isinstance(found, FilesTable)


class TableMetadataCache:
    def __init__(self, config: CacheConfig, clock: Clock = time.monotonic, budget: Budget | None = None) -> None:
        self.cache: Cache[TableKey, Table | ViewDefinition] = Cache(
            "table_metadata",
            config.max_entries,
            config.ttl,
            measure=measure.described,
            keep=_lasts,
            clock=clock,
            budget=budget,
        )

    def table(self, key: TableKey, load: Callable[[], Table]) -> Table:
        """Returns the table with its own handle: a commit advances the handle, and must not advance those of others."""
        found = self.cache.get(key, load)
        noted(self.cache, key, found)
        assert not isinstance(found, ViewDefinition)  # views have separate keys
        return replace(found, handle=copy.copy(found.handle)) if isinstance(found, IcebergTable) else found

    def view(self, key: TableKey, load: Callable[[], ViewDefinition]) -> ViewDefinition:
        found = self.cache.get(key, load)
        noted(self.cache, key, found)
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
