"""The cache: expiry, eviction, one load per key at a time, and invalidation that overtakes a load."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from pinakes.caches.cache import Cache
from pinakes.core.errors import CatalogUnavailable, InternalError, QueryCanceled, QueryTimeout

WAIT = 30.0
"""Seconds that a test waits for another thread before it fails; nothing here takes that long."""


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Loader:
    """Loads 1, 2, 3, … and, when told to, waits before it returns."""

    def __init__(self) -> None:
        self.calls = 0
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.error: BaseException | None = None

    def __call__(self) -> int:
        self.calls += 1
        mine = self.calls
        self.entered.set()
        assert self.go_on.wait(WAIT)
        if self.error is not None:
            raise self.error
        return mine


def start(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def test_a_value_is_loaded_once_and_expires() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("c", 10, 30, clock=clock)
    assert [cache.get("a", load), cache.get("a", load)] == [1, 1]
    clock.now += 29.9
    assert cache.get("a", load) == 1
    clock.now += 0.2
    assert cache.get("a", load) == 2


def test_without_a_ttl_a_value_stays() -> None:
    clock, load = FakeClock(), Loader()
    cache: Cache[str, int] = Cache("c", 10, 0, clock=clock)
    cache.get("a", load)
    clock.now += 1e9
    assert cache.get("a", load) == 1


@pytest.mark.parametrize("ttl", [0, 30])
def test_the_least_recently_used_goes_first(ttl: float) -> None:
    load = Loader()
    cache: Cache[str, int] = Cache("c", 2, ttl, clock=FakeClock())
    for key in ("a", "b", "a", "c"):
        cache.get(key, load)
    assert load.calls == 3
    cache.get("a", load)
    assert load.calls == 3
    cache.get("b", load)
    assert load.calls == 4
    assert cache.stats().evictions == 2


def test_entries_can_have_weights() -> None:
    cache: Cache[str, str] = Cache("c", 10, weigh=len)
    for word in ("aaaa", "bbbb", "cccc"):
        cache.get(word, lambda word=word: word)  # type: ignore[misc]
    assert (cache.stats().entries, cache.stats().bytes, cache.stats().evictions) == (2, 8, 1)
    assert cache.get("long", lambda: "x" * 11) == "x" * 11
    assert cache.stats().entries == 2


def test_a_cache_without_room_keeps_nothing() -> None:
    load = Loader()
    cache: Cache[str, int] = Cache("c", 0)
    assert [cache.get("a", load), cache.get("a", load)] == [1, 2]


def test_a_value_may_be_refused() -> None:
    load = Loader()
    cache: Cache[str, int] = Cache("c", 10, keep=lambda value: value > 1)
    assert [cache.get("a", load) for _ in range(3)] == [1, 2, 2]


def test_counters() -> None:
    clock = FakeClock()
    cache: Cache[str, int] = Cache("c", 10, 30, clock=clock)

    def slow() -> int:
        clock.now += 2
        return 1

    def bad() -> int:
        raise CatalogUnavailable("no")

    cache.get("a", slow)
    cache.get("a", slow)
    with pytest.raises(CatalogUnavailable):
        cache.get("b", bad)
    stats = cache.stats()
    assert (stats.name, stats.capacity, stats.unit, stats.ttl, stats.entries) == ("c", 10, "entries", 30, 1)
    assert (stats.hits, stats.misses, stats.loads, stats.failures, stats.load_seconds) == (1, 2, 2, 1, 2.0)
    clock.now += 31
    assert cache.stats().entries == 0


def test_64_threads_on_a_cold_key_make_one_load() -> None:
    cache: Cache[str, int] = Cache("c", 10)
    load = Loader()
    load.go_on.clear()
    barrier = threading.Barrier(64)
    found: list[int] = []

    def ask() -> None:
        barrier.wait(WAIT)
        found.append(cache.get("a", load))

    threads = [start(ask) for _ in range(64)]
    assert load.entered.wait(WAIT)
    load.go_on.set()
    for thread in threads:
        thread.join(WAIT)
    assert (found, load.calls) == ([1] * 64, 1)


def test_threads_that_come_while_a_load_lands_do_not_load_again() -> None:
    for _ in range(200):
        cache: Cache[str, int] = Cache("c", 10)
        load = Loader()
        threads = [start(lambda: cache.get("a", load)) for _ in range(8)]  # noqa: B023 - joined before the next round
        for thread in threads:
            thread.join(WAIT)
        assert load.calls == 1


def test_a_failure_goes_to_all_who_waited_and_is_forgotten() -> None:
    cache: Cache[str, int] = Cache("c", 10)
    load = Loader()
    load.go_on.clear()
    load.error = CatalogUnavailable("down")
    errors: list[Exception] = []

    def ask() -> None:
        try:
            cache.get("a", load)
        except CatalogUnavailable as error:
            errors.append(error)

    threads = [start(ask)]
    assert load.entered.wait(WAIT)
    threads += [start(ask) for _ in range(7)]
    wait_for(lambda: cache.stats().misses == 8)
    load.go_on.set()
    for thread in threads:
        thread.join(WAIT)
    # A thread that has missed but not yet joined when the load fails makes a load of its own: no less, no more.
    assert len(errors) == 8
    load.error = None
    assert cache.get("a", load) == load.calls


def wait_for(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(WAIT / 0.002)):
        if condition():
            return
        pause.wait(0.002)
    pytest.fail("waited in vain")


@pytest.mark.parametrize("error", [QueryCanceled("x"), QueryTimeout("x"), KeyboardInterrupt()])
def test_who_waits_for_a_query_that_is_stopped_loads_again(error: BaseException) -> None:
    cache: Cache[str, int] = Cache("c", 10)
    first, second = Loader(), Loader()
    first.go_on.clear()
    first.error = error
    found: list[object] = []

    def lead() -> None:
        try:
            cache.get("a", first)
        except BaseException as raised:  # noqa: BLE001 - the thread's own end is what is looked at
            found.append(raised)

    leader = start(lead)
    assert first.entered.wait(WAIT)
    follower = start(lambda: found.append(cache.get("a", second)))
    wait_for(lambda: cache.stats().misses == 2)
    first.go_on.set()
    leader.join(WAIT)
    follower.join(WAIT)
    assert found == [error, 1]
    assert cache.get("a", second) == 1


def test_who_was_interrupted_while_storing_may_ask_again() -> None:
    """Ctrl-C may come at any point, also when the value is there and not stored yet."""
    moments = iter([KeyboardInterrupt()])

    def measure(_: int) -> int:
        for moment in moments:
            raise moment
        return 1

    cache: Cache[str, int] = Cache("c", 10, measure=measure)
    with pytest.raises(KeyboardInterrupt):
        cache.get("a", lambda: 1)
    assert cache.get("a", lambda: 2) == 2
    assert cache.get("a", lambda: 3) == 2


def test_a_slow_load_blocks_no_other_key() -> None:
    cache: Cache[str, int] = Cache("c", 10)
    slow, quick = Loader(), Loader()
    slow.go_on.clear()
    thread = start(lambda: cache.get("slow", slow))
    assert slow.entered.wait(WAIT)
    assert cache.get("quick", quick) == 1
    slow.go_on.set()
    thread.join(WAIT)


@pytest.mark.parametrize(
    "forget",
    [lambda c: c.invalidate("a"), lambda c: c.invalidate_if(lambda k: k == "a"), lambda c: c.clear()],
    ids=["invalidate", "invalidate_if", "clear"],
)
def test_a_load_that_an_invalidation_overtakes_is_not_stored(forget: Callable[[Cache[str, str]], None]) -> None:
    cache: Cache[str, str] = Cache("c", 10)
    entered, go_on = threading.Event(), threading.Event()

    def old() -> str:
        entered.set()
        assert go_on.wait(WAIT)
        return "old"

    found: list[str] = []
    thread = start(lambda: found.append(cache.get("a", old)))
    assert entered.wait(WAIT)
    forget(cache)
    assert cache.get("a", lambda: "new") == "new"  # who asks after the change does not wait for the old load
    go_on.set()
    thread.join(WAIT)
    assert found == ["old"]
    assert cache.get("a", lambda: "newest") == "new"


def test_invalidation_takes_only_what_it_names() -> None:
    cache: Cache[str, int] = Cache("c", 10, 30)
    load = Loader()
    for key in ("a", "b", "c"):
        cache.get(key, load)
    cache.invalidate("a")
    cache.invalidate("unknown")
    cache.invalidate_if(lambda key: key == "b")
    assert [cache.get(key, load) for key in ("a", "b", "c")] == [4, 5, 3]


def test_a_load_that_asks_for_itself_is_an_error_and_no_deadlock() -> None:
    cache: Cache[str, int] = Cache("c", 10)
    with pytest.raises(InternalError, match="very key"):
        cache.get("a", lambda: cache.get("a", lambda: 1))
    assert cache.get("a", lambda: 2) == 2


def test_threads_and_invalidations_in_a_mix() -> None:
    """Whoever asks after a change must not see what was before it."""
    cache: Cache[int, int] = Cache("c", 4, 30)
    truth = [0] * 8
    stale: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        for step in range(2000):
            key = (seed + step) % 8
            if step % 7 == 0 and seed == key % 4:  # one writer per key
                truth[key] += 1
                cache.invalidate(key)
            before = truth[key]
            seen = cache.get(key, lambda key=key: truth[key])  # type: ignore[misc]
            if seen < before and seed == key % 4:
                stale.append((seen, before))

    threads = [start(lambda n=n: work(n)) for n in range(4)]  # type: ignore[misc]
    for thread in threads:
        thread.join(WAIT)
    assert stale == []
