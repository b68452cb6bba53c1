"""What is alive is listed while other threads add more, and forgotten with whoever held it."""

from __future__ import annotations

import gc
import threading

from pinakes.engine.execution.weak_set import WeakSet

MANY = 5_000


class Thing:
    """Anything that can be referred to weakly."""


def test_what_nobody_holds_is_forgotten() -> None:
    alive: WeakSet[Thing] = WeakSet()
    kept = Thing()
    alive.add(kept)
    alive.add(Thing())
    gc.collect()
    assert list(alive) == [kept]


def test_it_is_listed_while_others_add() -> None:
    alive: WeakSet[Thing] = WeakSet()
    kept = [Thing() for _ in range(MANY)]

    def add() -> None:
        for thing in kept:
            alive.add(thing)

    thread = threading.Thread(target=add)
    thread.start()
    found = []
    while thread.is_alive():
        found.append(len(list(alive)))
    assert found == sorted(found)
    assert len(list(alive)) == MANY
