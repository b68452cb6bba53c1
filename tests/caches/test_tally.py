"""Counting what one statement asks of the caches, while others ask, too."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from pinakes.caches.cache import Cache
from pinakes.caches.lookups import Lookup, Tally, asking_about


def a_cache() -> Cache[str, int]:
    return Cache("numbers", 10)


def test_hits_and_misses_and_what_they_were_for() -> None:
    cache, tally = a_cache(), Tally()
    cache.get("before", lambda: 0)
    with tally.counting():
        cache.get("a", lambda: 1)
        with asking_about("t"):
            cache.get("a", lambda: 1)
            with asking_about("u"):
                cache.get("b", lambda: 1)
            cache.get("b", lambda: 1)
        cache.get("before", lambda: 0)
    cache.get("after", lambda: 0)
    assert tally.lookups == [
        Lookup("numbers", False, None),
        Lookup("numbers", True, "t"),
        Lookup("numbers", False, "u"),
        Lookup("numbers", True, "t"),
        Lookup("numbers", True, None),
    ]


def test_what_other_threads_ask_is_theirs_unless_they_take_the_context_along() -> None:
    cache, tally = a_cache(), Tally()
    with tally.counting(), ThreadPoolExecutor(1) as pool:
        pool.submit(cache.get, "other", lambda: 1).result()
        pool.submit(copy_context().run, cache.get, "mine", lambda: 1).result()
    assert tally.lookups == [Lookup("numbers", False, None)]


def test_each_thread_has_its_own() -> None:
    cache, tallies, together = a_cache(), [Tally() for _ in range(8)], threading.Barrier(8)

    def count(tally: Tally) -> None:
        with tally.counting():
            together.wait()
            for _ in range(100):
                cache.get("same", lambda: 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, tallies))
    assert [len(tally.lookups) for tally in tallies] == [100] * 8
    assert sum(lookup.hit for tally in tallies for lookup in tally.lookups) == cache.stats().hits
