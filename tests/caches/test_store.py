"""What caches share: limits that change while they are in use, one budget for all, entries that are read anew."""

from __future__ import annotations

import threading

import pytest

from pinakes.caches.cache import Cache
from pinakes.caches.memory import Budget
from pinakes.core.errors import CatalogUnavailable
from tests.caches.test_base import WAIT, FakeClock, Loader


def fill(cache: Cache[str, str], *keys: str) -> None:
    for key in keys:
        cache.get(key, lambda key=key: key)  # type: ignore[misc]


def kept(cache: Cache[str, str]) -> set[str]:
    return {key for key in "abcdefghij" if cache.has(key)}


# --- limits ------------------------------------------------------------------------------------------------------


def test_fewer_entries_from_now_on() -> None:
    cache: Cache[str, str] = Cache("c", 10, 30, clock=FakeClock())
    fill(cache, "a", "b", "c", "a")
    cache.limit(capacity=2)
    assert kept(cache) == {"a", "c"}
    fill(cache, "d")
    assert cache.stats().entries == 2
    cache.limit(capacity=0)
    assert kept(cache) == set()
    fill(cache, "e")
    assert kept(cache) == set()


def test_fewer_bytes_from_now_on() -> None:
    cache: Cache[str, str] = Cache("c", 100, 0, weigh=lambda _: 10, clock=FakeClock())
    fill(cache, "a", "b", "c")
    cache.limit(capacity=25)
    stats = cache.stats()
    assert (kept(cache), stats.bytes, stats.capacity, stats.unit) == ({"b", "c"}, 20, 25, "bytes")


def test_a_shorter_life_also_for_what_is_there_and_a_longer_one() -> None:
    clock = FakeClock()
    cache: Cache[str, str] = Cache("c", 10, 30, clock=clock)
    fill(cache, "a")
    clock.now += 6
    fill(cache, "b")
    cache.limit(ttl=5)
    assert kept(cache) == {"b"}
    cache.limit(ttl=60)
    clock.now += 59
    assert kept(cache) == {"b"}
    clock.now += 1
    assert kept(cache) == set()


def test_bytes_are_reported_where_entries_are_counted() -> None:
    cache: Cache[str, str] = Cache("c", 10, 30, measure=lambda _: 7, clock=FakeClock())
    fill(cache, "a", "b")
    stats = cache.stats()
    assert (stats.entries, stats.capacity, stats.unit, stats.bytes) == (2, 10, "entries", 14)


# --- the budget --------------------------------------------------------------------------------------------------


def test_all_caches_together_keep_to_their_budget_and_the_oldest_use_gives_way() -> None:
    budget = Budget(100)
    one: Cache[str, str] = Cache("one", 1000, 0, weigh=lambda _: 20, budget=budget)
    other: Cache[str, str] = Cache("other", 1000, 0, measure=lambda _: 20, budget=budget)
    fill(one, "a", "b")
    fill(other, "c", "d")
    fill(one, "a")  # used last of these
    fill(other, "e")
    assert (kept(one), kept(other)) == ({"a", "b"}, {"c", "d", "e"})
    fill(one, "f")  # 120 are too many: down to 90 at most
    assert (kept(one), kept(other)) == ({"a", "f"}, {"d", "e"})
    assert one.stats().evictions + other.stats().evictions == 2
    budget.limit = 50
    budget.settle()
    assert budget.nbytes <= 45


def test_a_budget_holds_while_threads_fill_caches() -> None:
    budget = Budget(1000)
    caches: list[Cache[int, int]] = [Cache(str(n), 10_000, 0, weigh=lambda _: 10, budget=budget) for n in range(4)]

    def run(cache: Cache[int, int]) -> None:
        for key in range(500):
            assert cache.get(key, lambda key=key: key) == key  # type: ignore[misc]

    threads = [threading.Thread(target=run, args=(cache,)) for cache in caches for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    budget.settle()
    assert budget.nbytes <= 1000


# --- stale while it is read anew ---------------------------------------------------------------------------------


def wait_for_renewal(cache: Cache[str, int]) -> None:
    for thread in threading.enumerate():
        if thread.name == f"renew-{cache.name}":
            thread.join(WAIT)


def test_an_old_entry_is_given_out_while_one_thread_reads_it_again() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("swr", 10, 30, stale=60, clock=clock)
    assert cache.get("a", load) == 1
    clock.now += 31
    load.go_on.clear()
    assert [cache.get("a", load) for _ in range(5)] == [1] * 5
    load.go_on.set()
    wait_for_renewal(cache)
    assert (cache.get("a", load), load.calls) == (2, 2)


def test_who_looks_whether_something_is_known_does_not_keep_what_is_old() -> None:
    """Else those who look before they ask, as system tables do, would never have it read anew."""
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("swr", 10, 30, stale=60, clock=clock)
    cache.get("a", load)
    assert cache.peek("a") == 1
    clock.now += 31
    assert cache.peek("a") is None
    assert cache.get("a", load) == 1
    wait_for_renewal(cache)
    assert cache.peek("a") == 2


def test_too_old_is_too_old() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("swr", 10, 30, stale=60, clock=clock)
    cache.get("a", load)
    clock.now += 91
    assert cache.get("a", load) == 2


def test_what_was_forgotten_is_never_given_out_nor_brought_back() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("swr", 10, 30, stale=60, clock=clock)
    cache.get("a", load)
    clock.now += 31
    load.go_on.clear()
    load.entered.clear()
    assert cache.get("a", load) == 1
    assert load.entered.wait(WAIT)
    cache.invalidate("a")  # the renewal began before: what it reads is too old
    load.go_on.set()
    wait_for_renewal(cache)
    assert cache.peek("a") is None
    assert cache.get("a", load) == 3


def test_a_renewal_that_fails_is_tried_again() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("swr", 10, 30, stale=60, clock=clock)
    cache.get("a", load)
    clock.now += 31
    load.error = CatalogUnavailable("down")
    assert cache.get("a", load) == 1
    wait_for_renewal(cache)
    load.error = None
    assert cache.get("a", load) == 1
    wait_for_renewal(cache)
    assert (cache.get("a", load), cache.stats().failures) == (3, 1)


@pytest.mark.parametrize("stale", [0.0, 60.0])
def test_what_depends_on_an_entry_does_not_outlive_its_ttl(stale: float) -> None:
    clock = FakeClock()
    cache: Cache[str, str] = Cache("c", 10, 30, stale=stale, clock=clock)
    value = cache.get("a", lambda: "x" * 3)
    assert cache.holds("a", value)
    assert not cache.holds("a", "y")
    clock.now += 30
    assert not cache.holds("a", value)
