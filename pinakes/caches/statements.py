"""The cache of parsed statements, by text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from pinakes.caches import measure
from pinakes.caches.base import Cache, CacheStats, Clock
from pinakes.caches.budget import Budget
from pinakes.config.model import CacheConfig

LONGEST = 100_000
"""Longer texts (for example the VALUES list of a load) are not kept: they are rarely repeated."""


class Shown(Protocol):
    """The interface that the cache needs from a statement: its text and its redacted text."""

    @property
    def text(self) -> str: ...

    @property
    def shown(self) -> str: ...


S = TypeVar("S", bound=Shown)


class StatementCache(Generic[S]):
    """Parsed statements. A statement whose redacted text differs from its text contains secrets and is never kept."""

    def __init__(
        self,
        config: CacheConfig,
        classify: Callable[[str], S],
        clock: Clock = time.monotonic,
        budget: Budget | None = None,
    ) -> None:
        self.cache: Cache[str, S] = Cache(
            "statements",
            config.max_entries,
            config.ttl,
            measure=lambda statement: measure.statement(statement.text),
            keep=_may_be_kept,
            clock=clock,
            budget=budget,
        )
        self._classify = classify

    def classify(self, text: str) -> S:
        """Returns the parsed statement of a text."""
        return self.cache.get(text, lambda: self._classify(text))

    def stats(self) -> CacheStats:
        return self.cache.stats()


def _may_be_kept(statement: Shown) -> bool:
    return statement.shown == statement.text and len(statement.text) <= LONGEST
