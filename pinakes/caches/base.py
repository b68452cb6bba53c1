"""A cache that loads each key once at a time, counts what it does, and takes its clock as a parameter.

cachetools keeps the entries (least recently used goes first, each for `ttl` seconds); added here is what it leaves to
its user: one load per key however many threads ask, and loads that an invalidation overtakes are never stored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import cachetools

from pinakes.core.errors import InternalError, QueryCanceled, QueryTimeout

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds now and has done since it was made."""

    name: str
    entries: int
    size: int
    """The sum of the entries' weights; the number of entries where each weighs one."""
    capacity: int
    ttl: float
    hits: int
    misses: int
    loads: int
    failures: int
    load_seconds: float
    evictions: int


class _Flight(Generic[V]):
    """One load under way, and what came of it. Its lock is held while it loads: to wait for it is to take the lock."""

    __slots__ = ("error", "finished", "lock", "owner", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner = threading.get_ident()
        self.finished = False
        self.error: Exception | None = None
        self.value: V


class Cache(Generic[K, V]):
    """Values by key, loaded when first asked for.

    `capacity` counts entries, or what `weigh` makes of them; 0 keeps nothing. `ttl` 0 keeps for ever. `keep` may refuse
    to store a value. A value is handed to many threads, so it must not be changed by who gets it.
    """

    def __init__(
        self,
        name: str,
        capacity: int,
        ttl: float = 0.0,
        *,
        weigh: Callable[[V], int] | None = None,
        keep: Callable[[V], bool] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.name = name
        self._ttl = ttl
        self._weigh = weigh
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._flights: dict[K, _Flight[V]] = {}
        self._hits = self._misses = self._loads = self._failures = self._evictions = 0
        self._load_seconds = 0.0
        self._store = self._make_store(capacity, ttl)

    def get(self, key: K, load: Callable[[], V]) -> V:
        """The value for `key`, from the cache, from a load that is under way, or from `load()`.

        A failed load is raised to everyone who waited for it and is not remembered.
        """
        with self._lock:
            try:
                value = self._store[key]
            except KeyError:
                self._misses += 1
            else:
                self._hits += 1
                return value
        while True:
            mine: _Flight[V] = _Flight()
            with mine.lock:
                flight = self._join(key, mine)
                if flight is mine and not mine.finished:
                    return self._load(key, mine, load)
            if flight is mine or self._wait(key, flight):
                return flight.value

    def invalidate(self, key: K) -> None:
        """Forget a key; a load of it that is under way will not be stored, and who asks from now on loads anew."""
        with self._lock:
            self._drop(key)

    def invalidate_if(self, predicate: Callable[[K], bool]) -> None:
        """Forget every key for which `predicate` holds."""
        with self._lock:
            for key in [k for k in (*self._store, *self._flights) if predicate(k)]:
                self._drop(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._store.clear()
            self._flights.clear()

    def stats(self) -> CacheStats:
        with self._lock:
            if isinstance(self._store, cachetools.TTLCache):
                self._store.expire()
            store = self._store
            return CacheStats(
                self.name,
                entries=len(store),
                size=int(store.currsize),
                capacity=int(store.maxsize),
                ttl=self._ttl,
                hits=self._hits,
                misses=self._misses,
                loads=self._loads,
                failures=self._failures,
                load_seconds=self._load_seconds,
                evictions=self._evictions,
            )

    def _join(self, key: K, mine: _Flight[V]) -> _Flight[V]:
        """The flight to wait for; `mine` when there is none: then it is mine to load, unless one has just landed."""
        with self._lock:
            with suppress(KeyError):
                mine.value = self._store[key]
                mine.finished = True
                return mine
            flight = self._flights.setdefault(key, mine)
        if flight is not mine and flight.owner == mine.owner:
            raise InternalError(f"cache {self.name!r}: a load asks for the very key that it is loading")
        return flight

    def _load(self, key: K, flight: _Flight[V], load: Callable[[], V]) -> V:
        started = self._clock()
        try:
            flight.value = load()
            flight.finished = True
        except (QueryCanceled, QueryTimeout):
            raise  # concerns only the query that loads: the flight stays unfinished, and who waits tries again
        except Exception as error:
            flight.error, flight.finished = error, True
            raise
        finally:
            self._land(key, flight, self._clock() - started)
        return flight.value

    def _land(self, key: K, flight: _Flight[V], seconds: float) -> None:
        """Store what was loaded, unless it failed or was invalidated meanwhile."""
        with self._lock:
            loaded = flight.finished and flight.error is None
            self._loads += 1
            self._load_seconds += seconds
            self._failures += not loaded
            if self._flights.get(key) is flight:
                del self._flights[key]
                if loaded:
                    self._put(key, flight.value)

    def _wait(self, key: K, flight: _Flight[V]) -> bool:
        """Whether another thread's load gave a value; False when it was broken off and has to be tried anew.

        Only `with` takes the lock of a flight, so whatever interrupts a load at whatever point, nobody waits for ever.
        """
        with flight.lock:
            pass
        with self._lock:
            if self._flights.get(key) is flight:  # interrupted before it could land
                del self._flights[key]
                return False
        if flight.error is not None:
            raise flight.error
        return flight.finished

    def _drop(self, key: K) -> None:
        self._flights.pop(key, None)
        with suppress(KeyError):  # not there, or expired this moment
            del self._store[key]

    def _put(self, key: K, value: V) -> None:
        weight = 1 if self._weigh is None else self._weigh(value)
        if weight <= self._store.maxsize and (self._keep is None or self._keep(value)):
            self._store[key] = value

    def _make_store(self, capacity: int, ttl: float) -> cachetools.Cache[K, V]:
        cache = self

        class Timed(cachetools.TTLCache[K, V]):
            def popitem(self) -> tuple[K, V]:
                cache._evictions += 1
                return super().popitem()

        class Untimed(cachetools.LRUCache[K, V]):
            def popitem(self) -> tuple[K, V]:
                cache._evictions += 1
                return super().popitem()

        if ttl > 0:
            return Timed(capacity, ttl, timer=self._clock, getsizeof=self._weigh)
        return Untimed(capacity, getsizeof=self._weigh)
