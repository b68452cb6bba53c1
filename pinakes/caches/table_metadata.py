"""Tables and views as their catalog described them, per mount and user, for half a minute."""

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
from pinakes.core.catalog import FilesTable, IcebergTable, Table, ViewDefinition
from pinakes.core.config import CacheConfig
from pinakes.core.names import Namespace, may_be


class TableKey(NamedTuple):
    """`mount` tells apart two catalogs that had the same name in turn; `user` is the token's fingerprint."""

    mount: str
    user: str
    namespace: Namespace
    name: str
    is_view: bool = False


def _lasts(found: Table | ViewDefinition) -> bool:
    """Files come and go without their catalog, and to look for them costs next to nothing."""
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
        """The table, with a handle of its own: a commit moves the handle on, and must not move that of others."""
        found = self.cache.get(key, load)
        noted(self.cache, key, found)
        assert not isinstance(found, ViewDefinition)  # views have keys of their own
        return replace(found, handle=copy.copy(found.handle)) if isinstance(found, IcebergTable) else found

    def view(self, key: TableKey, load: Callable[[], ViewDefinition]) -> ViewDefinition:
        found = self.cache.get(key, load)
        noted(self.cache, key, found)
        assert isinstance(found, ViewDefinition)  # tables have keys of their own
        return found

    def forget_object(self, mount: str, namespace: Namespace, name: str) -> None:
        """A table or view changed: every user's entry goes."""
        is_it = may_be((*namespace, name))
        self.cache.invalidate_if(lambda k: k.mount == mount and is_it((*k.namespace, k.name)))

    def forget(self, mount: str) -> None:
        """Everything that is known of a mount."""
        self.cache.invalidate_if(lambda k: k.mount == mount)

    def stats(self) -> CacheStats:
        return self.cache.stats()
