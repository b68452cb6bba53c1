"""The statement that takes too much memory is stopped, and no other."""

from __future__ import annotations

import pytest

from pinakes.core.errors import OutOfMemory
from pinakes.engine.execution.memory_watch import RESPITE, MemoryWatch, process_memory
from pinakes.engine.execution.tracker import QueryTracker

GB = 1 << 30


class World:
    """A process whose memory and time the test sets."""

    def __init__(self) -> None:
        self.used, self.now = GB, 0.0
        self.tracker = QueryTracker()
        self.watch = MemoryWatch(8 * GB, self.tracker.alive, lambda: self.used, lambda: self.now)

    def at(self, now: float, used: int) -> str | None:
        """The user whose statement is stopped."""
        self.now, self.used = now, used
        stopped = self.watch.look()
        return None if stopped is None else stopped.user  # type: ignore[attr-defined]


def test_the_statement_during_which_memory_grew_fastest_is_stopped() -> None:
    world = World()
    old = world.tracker.start("ann")
    assert world.at(0, GB) is None
    assert world.at(100, GB) is None
    hostile = world.tracker.start("eve")
    assert world.at(101, GB) is None
    assert world.at(102, 7 * GB) is None
    new = world.tracker.start("bob")
    assert world.at(103, 9 * GB) == "eve"
    assert (old.is_stopped, new.is_stopped) == (False, False)
    with pytest.raises(OutOfMemory, match="process_memory"):
        hostile.check()


def test_a_stopped_statement_has_time_to_release_its_memory() -> None:
    world = World()
    world.tracker.start("eve")
    world.at(0, GB)
    world.tracker.start("ann")
    assert world.at(1, 9 * GB) == "eve"
    assert world.at(1 + RESPITE / 2, 9 * GB) is None
    assert world.at(1 + RESPITE, 9 * GB) == "ann"
    assert world.at(9, 9 * GB) is None


def test_no_statement_is_stopped_below_the_limit() -> None:
    world = World()
    world.tracker.start("ann")
    assert [world.at(second, 8 * GB) for second in range(3)] == [None] * 3


def test_the_memory_of_the_process_is_known() -> None:
    assert (process_memory() or 0) > 1 << 20
