"""Random changes and queries against a model (`cache_rules.py`): nobody reads older than what was changed through the
engine, by whomever; what was changed outside is seen once the time-to-live is over; nobody sees what they may not.

PINAKES_LONG=1 runs many, other ones each time.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from pinakes.providers import registry
from tests.engine.cache_model import TTL
from tests.engine.cache_rules import CACHES, SESSIONS, CacheRules
from tests.engine.guarded_catalog import GOLD, HIDDEN, TIN
from tests.engine.support import how_many


def test_cache_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.TYPES, "guarded", "tests.engine.guarded_catalog:GuardedCatalog")
    CacheRules.hits.clear()
    how_often = settings(max_examples=how_many(8, 2000), stateful_step_count=25, deadline=None)
    run_state_machine_as_test(CacheRules, settings=how_often)
    assert {cache for cache in CACHES if not CacheRules.hits[cache]} <= how_many({"results"}, set()), CacheRules.hits


# --- what chance may miss ----------------------------------------------------------------------------------------

Step = Callable[[CacheRules], None]

DANGERS: dict[str, list[Step]] = {
    "changed outside, and time is over": [
        lambda rules: rules.change("bob", "two", "a", "insert"),
        lambda rules: rules.change_outside("first", "a", False),
        lambda rules: rules.time_passes(TTL),
        lambda rules: rules.change_outside("first", "a", True),
        lambda rules: rules.time_passes(TTL),
    ],
    "a right is taken away, and given back": [
        lambda rules: rules.change("alice", "one", HIDDEN, "insert"),
        lambda rules: rules.replace_secret(TIN),
        lambda rules: rules.replace_secret(GOLD),
    ],
    "another place under the same name": [
        lambda rules: rules.change("alice", "two", "a", "insert"),
        lambda rules: rules.change_outside("second", "a", False),
        lambda rules: rules.attach("second"),
        lambda rules: rules.change("alice", "two", "a", "replace"),
        lambda rules: rules.attach("first"),
        lambda rules: rules.detach(),
    ],
    "dropped and made again": [
        lambda rules: rules.change("alice", "own", "b", "insert"),
        lambda rules: rules.change("bob", "two", "b", "drop"),
        lambda rules: rules.change("alice again", "one", "b", "insert"),
        lambda rules: rules.change("bob", "own", "b", "empty"),
    ],
    "a transaction beside the changes of others": [
        lambda rules: rules.begin("alice"),
        lambda rules: rules.change("alice", "own", "a", "insert"),
        lambda rules: rules.change("bob", "one", "b", "insert"),
        lambda rules: rules.change("alice", "own", "a", "empty"),
        lambda rules: rules.end("alice", True),
    ],
    "a transaction that is overtaken, and one that is given up": [
        lambda rules: rules.begin("alice"),
        lambda rules: rules.begin("bob"),
        lambda rules: rules.change("alice", "one", "a", "insert"),
        lambda rules: rules.change("bob", "own", "b", "insert"),
        lambda rules: rules.change_outside("first", "a", False),
        lambda rules: rules.end("alice", True),
        lambda rules: rules.end("bob", False),
        lambda rules: rules.time_passes(TTL),
    ],
    "a transaction reads what was made outside, though it is known that there is none": [
        lambda rules: rules.change_outside("first", "b", True),
        lambda rules: rules.time_passes(TTL),
        lambda rules: rules.change_outside("first", "b", False),
        lambda rules: rules.begin("alice"),
        lambda rules: rules.end("alice", True),
    ],
    "made again where it was dropped outside": [
        lambda rules: rules.change_outside("first", "a", True),
        lambda rules: rules.change("alice", "one", "a", "insert"),
        lambda rules: rules.change_outside("first", "a", True),
        lambda rules: rules.drop_if_it_exists("bob", "own", "a"),
        lambda rules: rules.drop_if_it_exists("bob", "own", "a"),
    ],
    "a view becomes another": [
        lambda rules: rules.change_view("alice", "a", False),
        lambda rules: rules.change("bob", "own", "a", "insert"),
        lambda rules: rules.change_view("bob", "b", False),
        lambda rules: rules.change("alice", "own", "b", "drop"),
        lambda rules: rules.change("alice", "own", "b", "insert"),
        lambda rules: rules.change_view("alice again", "b", True),
    ],
    "flushed, and changed outside": [
        lambda rules: rules.flush("table_metadata", "a"),
        lambda rules: rules.change_outside("first", "a", False),
        lambda rules: rules.flush("all", None),
        lambda rules: rules.bound_memory(True),
        lambda rules: rules.change_outside("first", "b", True),
        lambda rules: rules.time_passes(TTL),
    ],
}


@pytest.mark.parametrize("results", [False, True])
@pytest.mark.parametrize("danger", DANGERS)
def test_known_dangers(danger: str, results: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.TYPES, "guarded", "tests.engine.guarded_catalog:GuardedCatalog")
    rules = CacheRules()
    try:
        for session in SESSIONS:
            rules.remember_results(session, results)
        rules.attach("first")
        for step in DANGERS[danger]:
            step(rules)
            _look_at_listings(rules)
            for _ in SESSIONS:
                rules.everything_is_seen_as_it_may_be()
            _look_at_listings(rules)  # once more: to look for what is not there makes the engine forget them
        assert hits_of(rules, "plans") > 0
        assert (hits_of(rules, "results") > 0) == results
    finally:
        rules.teardown()


def hits_of(rules: CacheRules, cache: str) -> int:
    return next(stats.hits for stats in rules.engine.caches.stats() if stats.name == cache)


def _look_at_listings(rules: CacheRules) -> None:
    for session in SESSIONS:
        for mount in ("one", "own"):
            rules.list_tables(session, mount)
