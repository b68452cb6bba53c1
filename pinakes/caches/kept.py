"""What a cache keeps, and how it is forgotten: the part of `base.py` that loads nothing.

`store.py` has the entries; here is the lock around them, with the counters, the limits and the loads that are under
way: what is forgotten while it is loaded will not be stored.
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
    """One load under way, and what came of it. Its lock is held while it loads: to wait for it is to take the lock."""

    __slots__ = ("error", "finished", "lock", "owner", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner = threading.get_ident()
        self.finished = False
        self.error: Exception | None = None
        self.value: V


class Kept(Generic[K, V]):
    """Values by key.

    `capacity` counts entries, or what `weigh` makes of them; 0 keeps nothing. `ttl` 0 keeps for ever. `keep` may refuse
    to store a value, `measure` tells the memory of one where that does not bound the cache. A value is handed to many
    threads, so it must not be changed by who gets it.
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
        """The value for `key` if it is there and not grown old, so that `get` would not even read it anew; nothing is
        loaded, and nobody waited for."""
        with self._lock:
            entry = self._store.find(key)
            if entry is None or self._store.is_old(entry):
                return None
            self._hits += 1
            return entry.value

    def look(self, key: K, is_good: Callable[[V], bool] = lambda _: True) -> V | None:
        """The value for `key` if it is there and good: a miss otherwise, and one that is not good goes."""
        with self._lock:
            entry = self._store.find(key)
        good = entry is not None and is_good(entry.value)  # not under the lock: it may ask other caches
        with self._lock:
            self._hits, self._misses = self._hits + good, self._misses + (not good)
            if entry is not None and not good and self._store.find(key) is entry:
                self._drop(key)
        note(self.name, hit=good)
        return entry.value if entry is not None and good else None

    def has(self, key: K) -> bool:
        """That this is asked does not count."""
        with self._lock:
            return key in self._store

    def put(self, key: K, value: V) -> None:
        """Remember what was made elsewhere."""
        nbytes = self._measure(value) if self._measure is not None else 1
        with self._lock:
            self._loads += 1
            self._store.put(key, value, nbytes)
        if self._budget is not None:
            self._budget.settle()

    def holds(self, key: K, value: object) -> bool:
        """Whether this very value is what is remembered for `key`, and not grown old."""
        with self._lock:
            entry = self._store.find(key)
            return entry is not None and entry.value is value and not self._store.is_old(entry)

    def keys(self) -> list[K]:
        """What is there now; some of it may have expired."""
        with self._lock:
            return self._store.keys()

    def invalidate(self, key: K) -> None:
        """Forget a key; a load of it that is under way will not be stored, and who asks from now on loads anew."""
        with self._lock:
            self._drop(key)

    def invalidate_if(self, predicate: Callable[[K], bool]) -> int:
        """Forget every key for which `predicate` holds. How many entries that were."""
        with self._lock:
            gone = list(filter(predicate, self._store.keys()))
            for key in (*gone, *[k for k in self._flights if predicate(k)]):
                self._drop(key)
            return len(gone)

    def invalidate_values(self, predicate: Callable[[V], bool]) -> int:
        """Forget every entry whose value is so. How many that were."""
        with self._lock:
            gone = [key for key, entry in self._store.entries() if predicate(entry.value)]
            for key in gone:
                self._drop(key)
            return len(gone)

    def clear(self) -> int:
        """Forget everything. How many entries that were."""
        with self._lock:
            gone = len(self._store)
            self._store.clear()
            self._flights.clear()
            return gone

    def limit(self, *, capacity: int | None = None, ttl: float | None = None, stale: float | None = None) -> None:
        """Change limits while it is in use; entries that these no longer allow go at once."""
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

    # --- its part of the memory -----------------------------------------------------------------------------------

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
