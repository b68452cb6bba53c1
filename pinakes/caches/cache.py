"""A cache with one concurrent load per key, statistics, and an injectable clock.

`store.py` holds the entries (least recently used evicted first, each kept for `ttl` seconds). This module makes one
load per key however many threads request it, and never stores a load that was invalidated while it ran. With `stale`,
an expired entry is returned while a background thread reloads it; an invalidated entry is never returned."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from pinakes.caches.lookups import record_lookup
from pinakes.caches.memory import Budget
from pinakes.caches.store import Entry, Limits, Store
from pinakes.core.errors import InternalError, QueryCanceled, QueryTimeout


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The current contents of a cache, and its counters since it was created."""

    name: str
    entries: int
    bytes: int
    """The memory of the entries, as far as it is known."""
    capacity: int
    unit: Literal["bytes", "entries"]
    """The unit of `capacity`."""
    ttl: float
    hits: int
    misses: int
    loads: int
    failures: int
    load_seconds: float
    evictions: int


_LOG = logging.getLogger(__name__)

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


class Cache(Generic[K, V]):
    """Values by key, loaded on first use.

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

    def get(self, key: K, load: Callable[[], V]) -> V:
        """Returns the value for `key`, from the cache, from a load in progress, or from `load()`.

        A failed load raises for every waiting thread and is not cached.
        """
        with self._lock:
            entry = self._store.find(key)
            if entry is None:
                self._misses += 1
            else:
                self._hits += 1
        record_lookup(self.name, hit=entry is not None)
        if entry is not None:
            if self._store.limits.stale and self._store.is_old(entry):
                self._renew(key, entry, load)
            return entry.value
        return self._load_once(key, load)

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
        record_lookup(self.name, hit=good)
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
            held = self._store.nbytes
        if self._budget is not None:
            self._budget.stored(self, held)

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

    # --- loads --------------------------------------------------------------------------------------------------------

    def _load_once(self, key: K, load: Callable[[], V]) -> V:
        while True:
            mine: Flight[V] = Flight()
            with mine.lock:
                flight = self._join(key, mine)
                if flight is mine and not mine.finished:
                    return self._load(key, mine, load)
            if flight is mine or self._wait(key, flight):
                return flight.value

    def _renew(self, key: K, entry: Entry[V], load: Callable[[], V]) -> None:
        """Reloads an expired entry in one background thread. Until then all threads get the old value."""
        with self._lock:
            if entry.is_renewed or key in self._flights:
                return
            entry.is_renewed = True

        def run() -> None:
            mine: Flight[V] = Flight()
            with mine.lock:
                with self._lock:
                    if self._store.find(key) is not entry or self._flights.setdefault(key, mine) is not mine:
                        return  # it was invalidated, or another thread loads it already
                try:
                    self._load(key, mine, load)
                except Exception as error:  # noqa: BLE001 - no thread waits for it: it is counted and retried
                    _LOG.info("cache %s: an entry could not be refreshed: %s", self.name, error)
                    entry.is_renewed = False

        threading.Thread(target=run, name=f"renew-{self.name}", daemon=True).start()

    def _join(self, key: K, mine: Flight[V]) -> Flight[V]:
        """Returns the load to wait for; `mine` if there is none, or if the value was stored meanwhile
        (`mine.finished`).
        """
        with self._lock:
            entry = self._store.find(key)
            if entry is not None:
                mine.value, mine.finished = entry.value, True
                return mine
            flight = self._flights.setdefault(key, mine)
        if flight is not mine and flight.owner == mine.owner and flight.lock.locked():
            raise InternalError(f"cache {self.name!r}: a load asks for the very key that it is loading")
        return flight

    def _load(self, key: K, flight: Flight[V], load: Callable[[], V]) -> V:
        started = self._clock()
        try:
            flight.value = load()
            flight.finished = True
        except (QueryCanceled, QueryTimeout):
            raise  # affects only the query that loads: the load stays unfinished, and the waiting threads retry
        except Exception as error:
            flight.error, flight.finished = error, True
            raise
        finally:
            self._finish_load(key, flight, self._clock() - started)
        return flight.value

    def _finish_load(self, key: K, flight: Flight[V], seconds: float) -> None:
        """Stores a loaded value, unless the load failed or the key was invalidated meanwhile."""
        loaded = flight.finished and flight.error is None
        nbytes = self._measure(flight.value) if loaded and self._measure is not None else 1
        with self._lock:
            self._loads += 1
            self._load_seconds += seconds
            self._failures += not loaded
            if self._flights.get(key) is flight:
                del self._flights[key]
                if loaded and (self._keep is None or self._keep(flight.value)):
                    self._store.put(key, flight.value, nbytes)
            held = self._store.nbytes
        if self._budget is not None and loaded:
            self._budget.stored(self, held)

    def _wait(self, key: K, flight: Flight[V]) -> bool:
        """Waits for another thread's load. Returns False if it was interrupted and must be retried.

        The lock of a load is only taken by `with`, so an interrupt at any point never leaves threads waiting forever.
        """
        with flight.lock:
            pass
        with self._lock:
            if self._flights.get(key) is flight:  # interrupted before it could finish
                del self._flights[key]
                return False
        if flight.error is not None:
            raise flight.error
        return flight.finished

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
