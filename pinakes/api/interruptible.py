"""A call that Ctrl-C cancels cleanly: it runs on its own thread, which is canceled and not interrupted.

An interrupt at an arbitrary point of the main thread could leave a commit incomplete. So the main thread only waits and
receives the interrupt, and the work ends at a safe point. The shell, the notebook and Python connections
(`undisturbed`) run their statements this way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds between two checks of the thread: not every system delivers an interrupt during an unlimited wait."""
GRACE = 2.0
"""Seconds that a canceled call may take to end before `is_stuck` is checked."""


class Foreground(Generic[T]):
    """One call. `interrupted` is whether Ctrl-C was pressed while it ran; the call may succeed nevertheless.

    `meanwhile` is called repeatedly while it runs. `is_stuck` is whether a canceled call waits for an external event
    that may never occur: then it is abandoned.
    """

    def __init__(
        self,
        call: Callable[[], T],
        cancel: Callable[[], object],
        *,
        meanwhile: Callable[[], object] = lambda: None,
        is_stuck: Callable[[], bool] = lambda: False,
    ) -> None:
        self.interrupted = False
        self._call, self._cancel, self._meanwhile, self._is_stuck = call, cancel, meanwhile, is_stuck
        self._values: list[T] = []
        self._failures: list[BaseException] = []
        self._over = threading.Event()

    def run(self) -> T:
        """Returns or raises the outcome of the call; raises KeyboardInterrupt if the call is abandoned or Ctrl-C is
        pressed again."""
        try:
            threading.Thread(target=self._guarded, daemon=True, name="statement").start()
            # Not `join`: in Python 3.11 an interrupted join marks the thread as ended.
            while not self._over.wait(PATIENCE):
                self._meanwhile()
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop()
        except SystemExit:  # raised by a signal such as SIGTERM: the process exits regardless of the call's outcome
            self._stop()
            raise
        if not self._over.is_set():
            raise KeyboardInterrupt
        if self._failures:
            raise self._failures.pop()
        return self._values.pop()

    def _guarded(self) -> None:
        try:
            self._values.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            self._failures.append(error)
        finally:
            self._over.set()

    def _stop(self) -> None:
        """Cancels the call repeatedly: the interrupt may arrive before there is anything to cancel."""
        began = time.monotonic()
        while not self._over.is_set():
            self._cancel()
            if not self._over.wait(PATIENCE) and time.monotonic() - began > GRACE and self._is_stuck():
                return


def undisturbed(call: Callable[[], T], cancel: Callable[[], object], discard: Callable[[T], object]) -> T:
    """Returns or raises the outcome of the call. Ctrl-C is raised as KeyboardInterrupt once the call has ended, and its
    value is discarded. Interrupts reach the main thread only, so other threads run the call directly."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    foreground = Foreground(call, cancel)
    try:
        value = foreground.run()
    except Exception as error:
        if foreground.interrupted:
            raise KeyboardInterrupt from error
        raise
    if foreground.interrupted:
        discard(value)
        raise KeyboardInterrupt
    return value


def leaving(call: Callable[[], T]) -> T:
    """Returns or raises the outcome of the call. After Ctrl-C it is abandoned after a short wait: it may wait for
    another machine, and changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    foreground = Foreground(call, lambda: None, is_stuck=lambda: True)
    value = foreground.run()
    if foreground.interrupted:
        raise KeyboardInterrupt
    return value
