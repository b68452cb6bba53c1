"""Calls that Ctrl-C stops: the interrupt is never lost, what the call gave is not either, and nobody waits for ever."""

from __future__ import annotations

import threading
from _thread import interrupt_main

import pytest

from pinakes.api import foreground as module
from pinakes.api.foreground import Foreground

LONG = 30.0


def test_it_gives_what_the_call_gives() -> None:
    assert Foreground(lambda: 42, lambda: None).run() == 42


def test_it_raises_what_the_call_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        Foreground(lambda: 1 // 0, lambda: None).run()


def test_an_interrupt_before_there_is_anything_to_cancel_is_not_lost() -> None:
    canceled = threading.Event()
    calls: list[None] = []

    def cancel() -> None:
        calls.append(None)
        if len(calls) > 1:  # the first finds nothing to cancel
            canceled.set()

    def call() -> bool:
        interrupt_main()
        return canceled.wait(LONG)

    call_ = Foreground(call, cancel)
    assert call_.run() is True
    assert call_.interrupted


def test_something_is_done_meanwhile() -> None:
    ticked = threading.Event()
    assert Foreground(lambda: ticked.wait(LONG), lambda: None, meanwhile=ticked.set).run() is True


def test_nobody_waits_for_a_call_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.0)
    never = threading.Event()

    def call() -> None:
        interrupt_main()
        never.wait(LONG)

    try:
        with pytest.raises(KeyboardInterrupt):
            Foreground(call, lambda: None, is_stuck=lambda: True).run()
    finally:
        never.set()
