"""What a cache holds: entries by key, each with its weight, its age and when it was last used.

cachetools keeps them: what expired goes, and where there is no room the least recently used. Added are a bound on their
number beside the one on their weight, and limits that may be changed while entries are there. Not safe for threads:
the cache around it holds a lock.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

import cachetools

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_TICKS = itertools.count()
"""Counts uses over all caches, so that it is known whose entry was used longest ago."""
_NO_BOUND = 1 << 62


@dataclass(slots=True)
class Entry(Generic[V]):
    value: V
    nbytes: int
    loaded: float
    used: int = 0
    is_renewed: bool = False
    """It is old, and somebody reads it anew."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_entries` and `max_bytes` are None where they do not bound. `ttl` 0 is for ever; for `stale` seconds more an
    old entry is given out while it is read anew."""

    max_entries: int | None
    max_bytes: int | None
    ttl: float
    stale: float = 0.0

    @property
    def life(self) -> float:
        return self.ttl + self.stale if self.ttl > 0 else inf


class Store(Generic[K, V]):
    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.evictions = 0
        self._clock = clock
        self._kept = self._make(limits)

    def find(self, key: K) -> Entry[V] | None:
        """What is kept for a key and is not too old; that it is asked for is remembered."""
        try:
            entry = self._kept[key]
        except KeyError:
            return None
        entry.used = next(_TICKS)
        return entry

    def is_old(self, entry: Entry[V]) -> bool:
        """It is given out only for as long as it takes to read it anew."""
        return 0 < self.limits.ttl <= self._clock() - entry.loaded

    def put(self, key: K, value: V, nbytes: int) -> None:
        limits = self.limits
        if nbytes > self._kept.maxsize or limits.max_entries == 0:
            self.drop(key)
            return
        if limits.max_entries is not None and key not in self._kept:
            while len(self._kept) >= limits.max_entries:
                self._kept.popitem()
        self._kept[key] = Entry(value, nbytes, self._clock(), next(_TICKS))

    def drop(self, key: K) -> None:
        with suppress(KeyError):  # not there, or expired this moment
            del self._kept[key]

    def evict(self, key: K, used: int) -> int:
        """Make room for others, unless it was used meanwhile. How much that gave."""
        entry = self._kept.get(key)
        if entry is None or entry.used != used:
            return 0
        self.evictions += 1
        self.drop(key)
        return entry.nbytes

    def clear(self) -> None:
        self._kept.clear()

    def limit(self, limits: Limits) -> None:
        """Other limits from now on; entries stay as far as these allow."""
        entries = sorted(((e.used, key, e) for key, e in self.entries()), key=lambda row: row[0])
        self.limits, self._kept = limits, self._make(limits)
        for _, key, entry in entries:
            if entry.nbytes <= self._kept.maxsize and limits.max_entries != 0:
                self._kept[key] = entry
        while limits.max_entries is not None and len(self._kept) > limits.max_entries:
            self._kept.popitem()

    def entries(self) -> Iterator[tuple[K, Entry[V]]]:
        """To look at: none of them counts as used by it."""
        for key in list(self._kept):
            yield key, cachetools.Cache.__getitem__(self._kept, key)

    def keys(self) -> list[K]:
        """Of what is not too old: that goes first, since to look at the clock for each key takes long."""
        self._kept.expire()
        return list(cachetools.Cache.__iter__(self._kept))

    def __contains__(self, key: K) -> bool:
        """That this is asked does not count as a use."""
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        return int(self._kept.currsize)

    def _make(self, limits: Limits) -> cachetools.TLRUCache[K, Entry[V]]:
        store = self

        class Kept(cachetools.TLRUCache[K, Entry[V]]):
            def popitem(self) -> tuple[K, Entry[V]]:
                store.evictions += 1
                return super().popitem()

        return Kept(
            _NO_BOUND if limits.max_bytes is None else limits.max_bytes,
            lambda _, entry, __: entry.loaded + limits.life,
            timer=self._clock,
            getsizeof=lambda entry: entry.nbytes,
        )
