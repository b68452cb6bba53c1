"""The entries of a cache by key, each with its weight, its age and its last use.

cachetools holds them: it removes expired entries and evicts the least recently used. This module adds a bound on the
number of entries in addition to the one on their weight, and limits that can be changed at any time. Not thread-safe:
the cache that uses it holds a lock.
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
"""Counts uses over all caches, to find the least recently used entry among them."""
_NO_BOUND = 1 << 62


@dataclass(slots=True)
class Entry(Generic[V]):
    value: V
    nbytes: int
    loaded: float
    used: int = 0
    is_renewed: bool = False
    """Whether the entry is expired and being reloaded."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits. `max_entries` and `max_bytes` are None where unbounded. `ttl` 0 is forever; for `stale` more seconds
    an expired entry is returned while it is reloaded.
    """

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
        """Returns the entry for a key unless it is past its lifetime, and marks it as used."""
        try:
            entry = self._kept[key]
        except KeyError:
            return None
        entry.used = next(_TICKS)
        return entry

    def is_old(self, entry: Entry[V]) -> bool:
        """Whether an entry is expired: it may only be returned while it is reloaded."""
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
        with suppress(KeyError):  # not present, or just expired
            del self._kept[key]

    def evict(self, key: K, used: int) -> int:
        """Evicts an entry, unless it was used since. Returns the freed bytes."""
        entry = self._kept.get(key)
        if entry is None or entry.used != used:
            return 0
        self.evictions += 1
        self.drop(key)
        return entry.nbytes

    def clear(self) -> None:
        self._kept.clear()

    def limit(self, limits: Limits) -> None:
        """Changes the limits, and keeps the entries that they allow."""
        entries = sorted(((e.used, key, e) for key, e in self.entries()), key=lambda row: row[0])
        self.limits, self._kept = limits, self._make(limits)
        for _, key, entry in entries:
            if entry.nbytes <= self._kept.maxsize and limits.max_entries != 0:
                self._kept[key] = entry
        while limits.max_entries is not None and len(self._kept) > limits.max_entries:
            self._kept.popitem()

    def entries(self) -> Iterator[tuple[K, Entry[V]]]:
        """Yields the entries without marking them as used."""
        for key in list(self._kept):
            yield key, cachetools.Cache.__getitem__(self._kept, key)

    def keys(self) -> list[K]:
        """Returns the live keys. Expired entries are removed first, since checking the clock for each key is slow."""
        self._kept.expire()
        return list(cachetools.Cache.__iter__(self._kept))

    def __contains__(self, key: K) -> bool:
        """Does not mark the entry as used."""
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        return int(self._kept.currsize)

    def _make(self, limits: Limits) -> cachetools.TLRUCache[K, Entry[V]]:
        store = self

        class Entries(cachetools.TLRUCache[K, Entry[V]]):
            def popitem(self) -> tuple[K, Entry[V]]:
                store.evictions += 1
                return super().popitem()

        return Entries(
            _NO_BOUND if limits.max_bytes is None else limits.max_bytes,
            lambda _, entry, __: entry.loaded + limits.life,
            timer=self._clock,
            getsizeof=lambda entry: entry.nbytes,
        )
