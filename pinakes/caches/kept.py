"""The entries of a cache and their invalidation: the part of `base.py` that loads nothing.

`store.py` has the entries. This module adds the lock, the counters, the limits and the loads in progress: a key that is
invalidated while it is loaded is not stored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any, Generic, TypeVar

from pinakes.caches.budget import Budget
from pinakes.caches.stats import CacheStats
from pinakes.caches.store import Limits, Store
from pinakes.caches.tally import note

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Clock = Callable[[], float]


class Flight(Generic[V]):
    """One load in progress, and its result. Its lock is held during the load: to wait for the load is to take
    the lock.
    """

    __slots__ = ("error", "finished", "lock", "owner", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner = threading.get_ident()
        self.finished = False
        self.error: Exception | None = None
        self.value: V


class Kept(Generic[K, V]):
    """Values by key.

    `capacity` counts entries, or the sizes that `weigh` returns; 0 keeps nothing. `ttl` 0 keeps entries forever. `keep`
    may refuse to store a value. `measure` returns the memory of a value where memory does not bound the cache. A value
    is shared by many threads, so callers must not change it.
    """

    def __init__(
        self,
        name: str,
        capacity: int,
        ttl: float = 0.0,
        *,
        weigh: Callable[[V], int] | None = None,
        measure: Callable[[V], int] | None = None,
        keep: Callable[[V], bool] | None = None,
        stale: float = 0.0,
        clock: Clock = time.monotonic,
        budget: Budget | None = None,
    ) -> None:
        self.name = name
        self._is_weighed = weigh is not None
        self._measure = weigh or measure
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._flights: dict[K, Flight[V]] = {}
        self._hits = self._misses = self._loads = self._failures = 0
        self._load_seconds = 0.0
        entries, size = (None, capacity) if self._is_weighed else (capacity, None)
        self._store: Store[K, V] = Store(Limits(entries, size, ttl, stale), clock)
        self._budget = budget
        if budget is not None:
            budget.join(self)

    def peek(self, key: K) -> V | None:
        """Returns the value for `key` if it is present and not expired. Nothing is loaded, and no load is
        waited for.
        """
        with self._lock:
            entry = self._store.find(key)
            if entry is None or self._store.is_old(entry):
                return None
            self._hits += 1
            return entry.value

    def look(self, key: K, is_good: Callable[[V], bool] = lambda _: True) -> V | None:
        """Returns the value for `key` if it is present and valid. Otherwise it is a miss, and an invalid entry is
        removed.
        """
        with self._lock:
            entry = self._store.find(key)
        good = entry is not None and is_good(entry.value)  # not under the lock: it may read other caches
        with self._lock:
            self._hits, self._misses = self._hits + good, self._misses + (not good)
            if entry is not None and not good and self._store.find(key) is entry:
                self._drop(key)
        note(self.name, hit=good)
        return entry.value if entry is not None and good else None

    def has(self, key: K) -> bool:
        """Whether `key` is present. This does not count as a hit or miss."""
        with self._lock:
            return key in self._store

    def put(self, key: K, value: V) -> None:
        """Stores a value that the caller made."""
        nbytes = self._measure(value) if self._measure is not None else 1
        with self._lock:
            self._loads += 1
            self._store.put(key, value, nbytes)
        if self._budget is not None:
            self._budget.settle()

    def holds(self, key: K, value: object) -> bool:
        """Whether the cached value for `key` is this object, and not expired."""
        with self._lock:
            entry = self._store.find(key)
            return entry is not None and entry.value is value and not self._store.is_old(entry)

    def keys(self) -> list[K]:
        """The current keys."""
        with self._lock:
            return self._store.keys()

    def invalidate(self, key: K) -> None:
        """Invalidates a key. A load of it in progress is not stored, and later calls load again."""
        with self._lock:
            self._drop(key)

    def invalidate_if(self, predicate: Callable[[K], bool]) -> int:
        """Invalidates every key for which `predicate` holds. Returns the number of removed entries."""
        with self._lock:
            gone = list(filter(predicate, self._store.keys()))
            for key in (*gone, *[k for k in self._flights if predicate(k)]):
                self._drop(key)
            return len(gone)

    def invalidate_values(self, predicate: Callable[[V], bool]) -> int:
        """Invalidates every entry for whose value `predicate` holds. Returns the number of removed entries."""
        with self._lock:
            gone = [key for key, entry in self._store.entries() if predicate(entry.value)]
            for key in gone:
                self._drop(key)
            return len(gone)

    def clear(self) -> int:
        """Removes all entries. Returns their number."""
        with self._lock:
            gone = len(self._store)
            self._store.clear()
            self._flights.clear()
            return gone

    def limit(self, *, capacity: int | None = None, ttl: float | None = None, stale: float | None = None) -> None:
        """Changes limits while the cache is in use. Entries beyond the new limits are removed immediately."""
        with self._lock:
            limits = self._store.limits
            if capacity is not None:
                limits = replace(limits, **{"max_bytes" if self._is_weighed else "max_entries": capacity})
            ttl, stale = limits.ttl if ttl is None else ttl, limits.stale if stale is None else stale
            self._store.limit(replace(limits, ttl=ttl, stale=stale))

    def stats(self) -> CacheStats:
        with self._lock:
            store, limits = self._store, self._store.limits
            return CacheStats(
                self.name,
                entries=len(store),
                bytes=store.nbytes,
                capacity=(limits.max_bytes if self._is_weighed else limits.max_entries) or 0,
                unit="bytes" if self._is_weighed else "entries",
                ttl=limits.ttl,
                hits=self._hits,
                misses=self._misses,
                loads=self._loads,
                failures=self._failures,
                load_seconds=self._load_seconds,
                evictions=store.evictions,
            )

    # --- its part of the memory budget ----------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._store.nbytes

    def uses(self) -> Iterator[tuple[int, object]]:
        with self._lock:
            found = [(entry.used, key) for key, entry in self._store.entries()]
        yield from found

    def give_way(self, key: Any, used: int) -> int:
        with self._lock:
            return self._store.evict(key, used)

    def _drop(self, key: K) -> None:
        self._flights.pop(key, None)
        self._store.drop(key)
