"""The query tracker: records, retention, cancellation and time-outs, also when threads race."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pinakes.core.errors import InvalidArgument, QueryCanceled, QueryTimeout
from pinakes.engine.datafusion.plan_metrics import Work
from pinakes.engine.execution.deadlines import Deadlines
from pinakes.engine.execution.interrupts import Interrupt, Interrupted, Interrupts
from pinakes.engine.execution.tracker import QueryTracker, State

WAIT = 30.0
"""Seconds that a test waits for another thread before it fails; nothing here takes that long."""


class FakeClock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Batch:
    num_rows: int
    nbytes: int


def test_the_time_of_a_phase_within_another_counts_once() -> None:
    clock = FakeClock()
    query = QueryTracker(clock=clock, timer=clock).start("ada")
    with query.phase("plan"):
        clock.now += 1
        with query.phase("prune"):
            clock.now += 2
            with query.phase("plan"):
                clock.now += 4
        clock.now += 8
    with query.phase("prune"):
        clock.now += 16
    assert query.seconds == {"plan": 13.0, "prune": 18.0}


def test_a_query_from_first_to_last() -> None:
    clock = FakeClock()
    tracker = QueryTracker(clock=clock, timer=clock)
    query = tracker.start("ada", "shell")
    assert tracker.snapshot()[0].state == State.QUEUED
    with query.phase("parse"):
        clock.now += 1
    query.describe("Query", "SELECT 1")
    with query.phase("plan"):
        clock.now += 2
        assert tracker.snapshot()[0].state == State.PLANNING
    query.touch("lake")
    assert query.interruptible(lambda: 7) == 7
    assert tracker.snapshot()[0].state == State.RUNNING
    query.count(Batch(3, 24))
    query.count(Batch(2, 16))
    clock.now += 4
    query.end()
    info = tracker.snapshot()[0]
    assert (info.user, info.source, info.kind, info.shown) == ("ada", "shell", "Query", "SELECT 1")
    assert (info.state, info.rows, info.bytes, info.catalogs) == (State.FINISHED, 5, 40, ("lake",))
    assert info.seconds == {"parse": 1.0, "plan": 2.0, "execute": 0.0}
    assert info.started is not None
    assert info.ended is not None
    assert (info.ended - info.created).total_seconds() == 7
    assert (info.error_code, info.error_message) == (None, None)


def test_a_phase_within_another_stops_its_clock() -> None:
    clock = FakeClock()
    tracker = QueryTracker(clock=clock, timer=clock)
    query = tracker.start("ada")
    with query.phase("plan"):
        clock.now += 1
        with query.phase("execute"):
            clock.now += 10
            info = tracker.snapshot()[0]
            assert (info.state, info.seconds, info.elapsed) == (State.RUNNING, {"plan": 1.0, "execute": 10.0}, 11.0)
        clock.now += 2
        assert tracker.snapshot()[0].seconds == {"plan": 3.0, "execute": 10.0}
    query.end()
    assert tracker.snapshot()[0].seconds == {"plan": 3.0, "execute": 10.0}


def test_the_work_of_several_plans_is_added_up_while_they_run() -> None:
    tracker = QueryTracker()
    query = tracker.start("ada")
    assert tracker.snapshot()[0].work == Work()
    done = [1]

    def measure() -> Work:
        return Work(rows=done[0], bytes=None, spilled=0)

    query.works(measure)
    done[0] = 5
    assert tracker.snapshot()[0].work == Work(5, None, 0)
    query.worked(measure)
    done[0] = 100  # nobody asks a plan that is over
    query.works(other := lambda: Work(rows=2, bytes=7))
    assert tracker.snapshot()[0].work == Work(7, 7, 0)
    query.worked(other)
    assert tracker.snapshot()[0].work == Work(7, 7, 0)


def test_ids_sort_by_time_and_are_not_repeated() -> None:
    clock = FakeClock()
    tracker = QueryTracker(clock=clock)
    first, second = tracker.start("a"), tracker.start("a")
    clock.now += 1
    third = tracker.start("a")
    ids = [first.query_id, second.query_id, third.query_id]
    assert ids == sorted(set(ids))
    assert first.query_id.startswith("20270115_080000_00001_")
    assert len(first.query_id.split("_")[3]) == 5


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (InvalidArgument("no"), State.FAILED, "INVALID_ARGUMENT"),
        (QueryCanceled("stop"), State.CANCELED, "QUERY_CANCELED"),
        (QueryTimeout("late"), State.FAILED, "QUERY_TIMEOUT"),
        (KeyboardInterrupt(), State.CANCELED, "INTERNAL_ERROR"),
        (ZeroDivisionError("x"), State.FAILED, "INTERNAL_ERROR"),
    ],
)
def test_how_a_query_ends(error: BaseException, state: State, code: str) -> None:
    tracker = QueryTracker()
    query = tracker.start("ada")
    query.end(error)
    query.end()  # only the first end counts
    info = tracker.snapshot()[0]
    assert (info.state, info.error_code) == (state, code)


def test_retention_by_count_keeps_what_runs() -> None:
    tracker = QueryTracker(queries=2)
    running = tracker.start("ada")
    for _ in range(5):
        tracker.start("bob").end()
    known = tracker.snapshot()
    assert known[0].query_id == running.query_id
    assert len(known) == 3
    assert tracker.running(running.query_id) is running
    assert tracker.running(known[1].query_id) is None


def test_retention_by_age_keeps_what_runs() -> None:
    clock = FakeClock()
    tracker = QueryTracker(age=60, clock=clock)
    running = tracker.start("ada")
    tracker.start("bob").end()
    clock.now += 61
    assert [info.query_id for info in tracker.snapshot()] == [running.query_id]


def test_a_snapshot_does_not_change_any_more() -> None:
    tracker = QueryTracker()
    query = tracker.start("ada")
    before = tracker.snapshot()[0]
    with query.phase("parse"):
        query.count(Batch(1, 1))
    assert (before.rows, before.state, before.seconds) == (0, State.QUEUED, {})


def test_cancel_stops_at_the_next_check_phase_and_call() -> None:
    tracker = QueryTracker()
    query = tracker.start("ada")
    query.check()
    assert query.cancel("killed by bob") is True
    assert query.cancel("again") is False
    with pytest.raises(QueryCanceled, match="killed by bob"):
        query.check()
    with pytest.raises(QueryCanceled), query.phase("plan"):
        pytest.fail("the phase must not begin")
    with pytest.raises(QueryCanceled):
        query.interruptible(lambda: pytest.fail("the call must not begin"))
    query.end()
    assert tracker.snapshot()[0].state == State.CANCELED


def test_a_query_that_is_over_can_not_be_canceled() -> None:
    query = QueryTracker().start("ada")
    query.end()
    assert query.cancel() is False


def test_the_errors_of_a_call_come_out_as_they_are() -> None:
    query = QueryTracker().start("ada")
    with pytest.raises(ZeroDivisionError):
        query.interruptible(lambda: 1 // 0)
    with pytest.raises(StopIteration):
        query.interruptible(iter(()).__next__)


def busy(inside: threading.Event) -> Callable[[], None]:
    """A call that waits as DataFusion's do: in native code, coming back to Python now and then."""

    def call() -> None:
        inside.set()
        while True:
            time.sleep(0.001)

    return call


def test_cancel_interrupts_a_call_in_another_thread() -> None:
    query = QueryTracker().start("ada")
    inside, caught = threading.Event(), []

    def work() -> None:
        try:
            query.interruptible(busy(inside))
        except QueryCanceled as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(WAIT)
    query.cancel("enough")
    thread.join(WAIT)
    assert "enough" in str(caught[0])


def test_a_foreign_error_around_the_interrupt_is_still_a_cancellation() -> None:
    query = QueryTracker().start("ada")
    inside, caught = threading.Event(), []

    def native() -> None:
        try:
            busy(inside)()
        except BaseException as error:  # as native code does with what a callback raised
            raise RuntimeError("External error") from error

    def work() -> None:
        try:
            query.interruptible(native)
        except QueryCanceled as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(WAIT)
    query.cancel()
    thread.join(WAIT)
    assert caught[0].__cause__ is None  # its frames would keep alive what was to end


def test_several_threads_of_one_query_are_all_interrupted() -> None:
    query = QueryTracker().start("ada")
    events = [threading.Event() for _ in range(4)]
    caught: list[QueryCanceled] = []

    def work(inside: threading.Event) -> None:
        try:
            query.interruptible(busy(inside))
        except QueryCanceled as error:
            caught.append(error)

    threads = [threading.Thread(target=work, args=(e,)) for e in events]
    for thread in threads:
        thread.start()
    assert all(e.wait(WAIT) for e in events)
    query.cancel()
    for thread in threads:
        thread.join(WAIT)
    assert len(caught) == 4


def test_calls_within_calls() -> None:
    query = QueryTracker().start("ada")
    assert query.interruptible(lambda: query.interruptible(lambda: 5)) == 5


def test_interrupts_never_surface_outside() -> None:
    """Some 2,000 tiny calls while another thread stops them at random moments: each returns or is stopped, and in the
    code after it no interrupt ever surfaces. (A `with` block in place of `run` fails here within some fifty calls.)"""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns as often as they can
    outcomes = {"returned": 0, "stopped": 0}
    current: list[Interrupts] = [Interrupts()]
    done = threading.Event()
    dice = random.Random(7)

    def spin(steps: int) -> int:
        total = 0
        for step in range(steps):
            total += step
        return total

    def canceller() -> None:
        chance = random.Random(11)
        while not done.is_set():
            spin(chance.randrange(60))
            current[0].stop()

    thread = threading.Thread(target=canceller)
    thread.start()
    try:
        while sum(outcomes.values()) < 2000 or (not outcomes["stopped"] and sum(outcomes.values()) < 200_000):
            interrupts = Interrupts()
            current[0] = interrupts
            try:
                interrupts.run(lambda: spin(dice.randrange(30)))
                outcomes["returned"] += 1
            except Interrupted:
                outcomes["stopped"] += 1
            for _ in range(20):  # the interrupt would surface here, at the latest
                spin(1)
    except Interrupt:
        pytest.fail("an interrupt surfaced outside of its call")
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join(WAIT)
    assert outcomes["stopped"] > 0


def test_a_time_out_stops_a_query() -> None:
    tracker = QueryTracker()
    query = tracker.start("ada", timeout=0.01)
    with pytest.raises(QueryTimeout, match=r"statement_timeout of 0\.01 s"):
        query.interruptible(busy(threading.Event()))
    query.end()
    assert tracker.snapshot()[0].error_code == "QUERY_TIMEOUT"
    tracker.close()


def test_without_a_time_out_there_is_no_thread() -> None:
    tracker = QueryTracker()
    tracker.start("ada").end()
    assert tracker._deadlines._thread is None
    tracker.start("ada", timeout=100).end()
    tracker.start("ada", timeout=100).end()
    assert [t.name for t in threading.enumerate()].count("pinakes-deadlines") == 1
    assert len(tracker._deadlines) == 0
    tracker.close()
    assert [t.name for t in threading.enumerate()].count("pinakes-deadlines") == 0


def test_close_stops_what_runs() -> None:
    tracker = QueryTracker()
    query = tracker.start("ada")
    tracker.close()
    with pytest.raises(QueryCanceled, match="engine was closed"):
        query.check()


class TestDeadlines:
    def test_run_in_the_order_of_time(self) -> None:
        clock, ran = FakeClock(0), list[str]()
        deadlines = Deadlines(clock)
        deadlines._thread = threading.current_thread()  # the test runs what is due
        deadlines.set(3, lambda: ran.append("late"))
        deadlines.set(1, lambda: ran.append("early"))
        gone = deadlines.set(2, lambda: ran.append("withdrawn"))
        deadlines.withdraw(gone)
        deadlines.withdraw(gone)
        assert deadlines.run_due() == 1
        clock.now = 2.5
        assert deadlines.run_due() == 0.5
        assert ran == ["early"]
        clock.now = 3
        assert deadlines.run_due() is None
        assert ran == ["early", "late"]
        assert len(deadlines) == 0

    def test_withdrawn_ones_do_not_pile_up(self) -> None:
        deadlines = Deadlines(FakeClock(0))
        deadlines._thread = threading.current_thread()
        kept = deadlines.set(5, lambda: None)
        for _ in range(10_000):
            deadlines.withdraw(deadlines.set(3600, lambda: None))
        assert len(deadlines._heap) < 200
        assert len(deadlines) == 1
        deadlines.withdraw(kept)
        assert len(deadlines) == 0


def test_many_threads_at_once() -> None:
    tracker = QueryTracker(queries=50)

    def work(number: int) -> None:
        for _ in range(200):
            query = tracker.start(f"user{number}", timeout=60)
            with query.phase("plan"):
                query.touch("lake")
            query.count(Batch(1, 8))
            query.end()
            tracker.snapshot()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    known = tracker.snapshot()
    assert len(known) == 50
    assert {info.state for info in known} == {State.FINISHED}
    tracker.close()
