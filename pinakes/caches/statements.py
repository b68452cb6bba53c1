"""The caches of parsed statements, query plans and results.

A cached plan is returned only while every cache entry that it was made from is unchanged (`reads.py`). The key of a
result contains the version of each table that was read, so it can't be stale; results are cached only with `SET
result_cache`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pinakes.caches import memory
from pinakes.caches.cache import Cache, CacheStats, Clock
from pinakes.caches.files import Sized
from pinakes.caches.memory import Budget
from pinakes.caches.origins import Origins
from pinakes.caches.reads import Read
from pinakes.config.model import CacheConfig, SizedCacheConfig

LONGEST = 100_000
"""Longer texts (for example the VALUES list of a load) are not kept: they are rarely repeated."""


class Shown(Protocol):
    """The interface that the cache needs from a statement: its text and its redacted text."""

    @property
    def text(self) -> str: ...

    @property
    def shown(self) -> str: ...


S = TypeVar("S", bound=Shown)
T = TypeVar("T", bound=Shown)


class StatementCache(Generic[S]):
    """Parsed statements. A statement whose redacted text differs from its text contains secrets and is never kept."""

    def __init__(
        self,
        config: CacheConfig,
        classify: Callable[[str], S],
        clock: Clock = time.monotonic,
        budget: Budget | None = None,
    ) -> None:
        self.cache: Cache[Hashable, Any] = Cache(
            "statements",
            config.max_entries,
            config.ttl,
            measure=lambda statement: memory.size_of_statement(statement.text),
            keep=_may_keep_statement,
            clock=clock,
            budget=budget,
        )
        self._classify = classify

    def classify(self, text: str) -> S:
        """Returns the parsed statement of a text."""
        found: S = self.cache.get(text, lambda: self._classify(text))
        return found

    def translate(self, text: str, dialect: str, translate: Callable[[str, str], T]) -> T:
        """Returns the translation of a text of another dialect."""
        found: T = self.cache.get((dialect, text), lambda: translate(text, dialect))
        return found

    def stats(self) -> CacheStats:
        return self.cache.stats()


def _may_keep_statement(statement: Shown) -> bool:
    return statement.shown == statement.text and len(statement.text) <= LONGEST


# --- plans and results -------------------------------------------------------------------------------------------


class PlanKey(NamedTuple):
    user: str
    fingerprint: str
    """The token's fingerprint."""
    rights: Hashable
    """The user's privileges, which may have changed since the plan was made."""
    text: str
    parameters: Hashable
    settings: Hashable
    scope: Hashable


class CachedPlan(Protocol):
    """The interface that the cache needs from a plan."""

    @property
    def reads(self) -> tuple[Read, ...]: ...

    @property
    def mounts(self) -> frozenset[str]:
        """The mounts that the plan reads."""
        ...


P = TypeVar("P", bound=CachedPlan)


class CachedResult(Sized, Protocol):
    """The interface that the cache needs from a result."""

    @property
    def mounts(self) -> frozenset[str]: ...


class PlanCache:
    """The cache of plans. `world` is any other state that name resolution depends on: the mounted catalogs."""

    def __init__(
        self, config: CacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[tuple[PlanKey, Hashable], CachedPlan] = Cache(
            "plans",
            config.max_entries,
            config.ttl,
            measure=lambda made: memory.PLAN + memory.READ * len(made.reads),
            clock=clock,
            budget=budget,
        )

    def find(self, key: PlanKey, world: Hashable, kind: type[P]) -> P | None:
        """Returns the plan if everything that it was made from is unchanged; otherwise removes it."""
        found = self.cache.look((key, world), self._holds)
        return found if isinstance(found, kind) else None

    def _holds(self, made: CachedPlan) -> bool:
        """Whether a plan is valid. A plan of a mount that was reopened or detached while the plan was made is not."""
        return all(map(self._origins.has, made.mounts)) and all(read.holds for read in made.reads)

    def forget(self, mount: str) -> None:
        """Invalidates the plans that read a mount: they hold its file access."""
        self.cache.invalidate_values(lambda made: mount in made.mounts)

    def put(self, key: PlanKey, world: Hashable, made: CachedPlan) -> None:
        """Stores a plan, unless one of its mounts was detached meanwhile: a plan holds the connections of its
        mounts.
        """
        self.cache.put((key, world), made)
        if not all(map(self._origins.has, made.mounts)):
            self.cache.invalidate((key, world))

    def stats(self) -> CacheStats:
        return self.cache.stats()


class ResultCache:
    """The cache of results. `versions` are those of all tables that a result was read from."""

    def __init__(
        self, config: SizedCacheConfig, origins: Origins, clock: Clock = time.monotonic, budget: Budget | None = None
    ) -> None:
        self._origins = origins
        self.cache: Cache[tuple[PlanKey, Hashable], CachedResult] = Cache(
            "results", config.max_bytes, config.ttl, weigh=lambda rows: rows.nbytes, clock=clock, budget=budget
        )

    def find(self, key: PlanKey, versions: Hashable) -> CachedResult | None:
        return self.cache.look((key, versions))

    def has(self, key: PlanKey, versions: Hashable) -> bool:
        """Whether a result is cached. This does not count as a hit or miss."""
        return self.cache.has((key, versions))

    def forget(self, mount: str) -> None:
        """Invalidates the results that were read from a mount."""
        self.cache.invalidate_values(lambda rows: mount in rows.mounts)

    def put(self, key: PlanKey, versions: Hashable, rows: CachedResult) -> None:
        """Stores a result, unless one of its mounts was detached while it was read."""
        self.cache.put((key, versions), rows)
        if not all(map(self._origins.has, rows.mounts)):
            self.cache.invalidate((key, versions))

    def stats(self) -> CacheStats:
        return self.cache.stats()
