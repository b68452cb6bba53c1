"""A cache with one concurrent load per key, statistics, and an injectable clock.

`kept.py` holds the entries (least recently used evicted first, each kept for `ttl` seconds) and their invalidation.
This module makes one load per key however many threads request it, and never stores a load that was invalidated while
it ran. With `stale`, an expired entry is returned while a background thread reloads it; an invalidated entry is never
returned.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pinakes.caches.kept import Clock as Clock
from pinakes.caches.kept import Flight, K, Kept, V
from pinakes.caches.stats import CacheStats as CacheStats
from pinakes.caches.store import Entry
from pinakes.caches.tally import note
from pinakes.core.errors import InternalError, QueryCanceled, QueryTimeout

_LOG = logging.getLogger(__name__)


class Cache(Kept[K, V]):
    """Values by key, loaded on first use."""

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
        note(self.name, hit=entry is not None)
        if entry is not None:
            if self._store.limits.stale and self._store.is_old(entry):
                self._renew(key, entry, load)
            return entry.value
        return self._flown(key, load)

    def _flown(self, key: K, load: Callable[[], V]) -> V:
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
            self._land(key, flight, self._clock() - started)
        return flight.value

    def _land(self, key: K, flight: Flight[V], seconds: float) -> None:
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
        if self._budget is not None and loaded:
            self._budget.settle()

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
