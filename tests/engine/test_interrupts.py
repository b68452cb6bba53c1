"""Interrupts that Python drops on the way: `tests/engine/test_tracker.py` has the others."""

from __future__ import annotations

import threading
import time

import pytest

from pinakes.engine import interrupts as module
from pinakes.engine.interrupts import Interrupted, Interrupts
from tests.engine.support import PATIENCE, in_thread, wait_until


class _Drops:
    """Its `__del__` is where the interrupt surfaces."""

    def __init__(self, begun: threading.Event, stopped: threading.Event) -> None:
        self.begun, self.stopped = begun, stopped

    def __del__(self) -> None:
        self.begun.set()
        self.stopped.wait(PATIENCE)
        sum(range(1000))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_is_dropped_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.2)
    interrupts, begun, stopped = Interrupts(), threading.Event(), threading.Event()
    dropped: list[bool] = []

    def call() -> None:
        thing = [_Drops(begun, stopped)]
        thing.clear()
        dropped.append(True)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.01)

    def guarded() -> str:
        try:
            interrupts.run(call)
        except Interrupted:
            return "stopped"
        return "ran to its end"

    outcome = in_thread(guarded)
    wait_until(begun.is_set, "the guarded call is where exceptions are dropped")
    interrupts.stop()
    stopped.set()
    assert outcome() == "stopped"
    assert dropped == [True]
