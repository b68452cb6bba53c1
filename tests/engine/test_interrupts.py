"""Interrupts that Python drops on the way: `tests/engine/test_tracker.py` has the others."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from pinakes.engine.execution import interrupts as module
from pinakes.engine.execution.interrupts import Interrupt, Interrupted, Interrupts, hiding
from tests.engine.support import PATIENCE, in_thread, wait_until


class _Drops:
    """Its `__del__` is where the interrupt surfaces."""

    def __init__(self, begun: threading.Event, stopped: threading.Event) -> None:
        self.begun, self.stopped = begun, stopped

    def __del__(self) -> None:
        self.begun.set()
        self.stopped.wait(PATIENCE)
        sum(range(1000))


def test_an_interrupt_that_is_dropped_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody is told of the first: that would be a warning, and this test would fail."""
    monkeypatch.setattr(module, "RESEND_SECONDS", 0.2)
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


def test_whatever_else_python_drops_is_reported() -> None:
    told: list[object] = []
    hook = hiding(told.append)
    for kind in (Interrupt, ValueError, KeyboardInterrupt):
        hook(SimpleNamespace(exc_type=kind))  # type: ignore[arg-type]  # one can't be made
    assert [one.exc_type for one in told] == [ValueError, KeyboardInterrupt]  # type: ignore[attr-defined]
