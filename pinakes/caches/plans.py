"""Plans of queries, and their results: by the text, who asks, where, and under which settings.

A plan is given out only while every entry that it was made of is still what the caches have (`reads.py`). A result has
the version of each table that it was read from in its key, so it can't be stale; it is kept only where that was asked
for (`SET result_cache`).
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import NamedTuple, Protocol, TypeVar

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.caches.by_file import Sized
from pinakes.caches.origins import Origins
from pinakes.caches.reads import Read
from pinakes.core.config import CacheConfig, SizedCacheConfig


class PlanKey(NamedTuple):
    user: str
    fingerprint: str
    """The token's."""
    rights: Hashable
    """What they may do: it may have been more, or less, when a plan was made."""
    text: str
    parameters: Hashable
    settings: Hashable
    scope: Hashable


class Made(Protocol):
    """What the cache needs to know of a plan."""

    @property
    def reads(self) -> tuple[Read, ...]: ...

    @property
    def mounts(self) -> frozenset[str]:
        """What these are of."""
        ...


P = TypeVar("P", bound=Made)


class Whole(Sized, Protocol):
    """What the cache needs to know of a result."""

    @property
    def mounts(self) -> frozenset[str]: ...


class PlanCache:
    """`world` is whatever else the meaning of names depends on: which catalogs are mounted."""

    def __init__(
        self, config: CacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[tuple[PlanKey, Hashable], Made] = Cache(
            "plans",
            config.max_entries,
            config.ttl,
            measure=lambda made: measure.PLAN + measure.READ * len(made.reads),
            clock=clock,
            budget=budget,
        )

    def find(self, key: PlanKey, world: Hashable, kind: type[P]) -> P | None:
        """The plan, if what it was made of is as it was; else it goes."""
        found = self.cache.look((key, world), self._holds)
        return found if isinstance(found, kind) else None

    def _holds(self, made: Made) -> bool:
        """A mount may have been opened anew or detached while a plan of it was made: then it holds for nobody."""
        return all(map(self._origins.has, made.mounts)) and all(read.holds for read in made.reads)

    def forget(self, mount: str) -> None:
        """The plans that read a mount: they hold what it is read with."""
        self.cache.invalidate_values(lambda made: mount in made.mounts)

    def put(self, key: PlanKey, world: Hashable, made: Made) -> None:
        """Keep it, unless a mount of it was detached meanwhile: it holds what that is read with."""
        self.cache.put((key, world), made)
        if not all(map(self._origins.has, made.mounts)):
            self.cache.invalidate((key, world))

    def stats(self) -> CacheStats:
        return self.cache.stats()


class ResultCache:
    """`versions` are those of all tables that a result was read from."""

    def __init__(
        self, config: SizedCacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[tuple[PlanKey, Hashable], Whole] = Cache(
            "results", config.max_bytes, config.ttl, weigh=lambda rows: rows.nbytes, clock=clock, budget=budget
        )

    def find(self, key: PlanKey, versions: Hashable) -> Whole | None:
        return self.cache.look((key, versions))

    def has(self, key: PlanKey, versions: Hashable) -> bool:
        """Whether it would answer; that this is asked does not count."""
        return self.cache.has((key, versions))

    def forget(self, mount: str) -> None:
        """The results that were read from a mount."""
        self.cache.invalidate_values(lambda rows: mount in rows.mounts)

    def put(self, key: PlanKey, versions: Hashable, rows: Whole) -> None:
        """Keep it, unless a mount of it was detached while it was read."""
        self.cache.put((key, versions), rows)
        if not all(map(self._origins.has, rows.mounts)):
            self.cache.invalidate((key, versions))

    def stats(self) -> CacheStats:
        return self.cache.stats()
