"""A call that Ctrl-C stops in good order: it runs on a thread of its own, which is canceled and not torn apart.

An interrupt that is raised wherever the main thread happens to be could leave a commit half done. So the main thread
does nothing but wait; the interrupt reaches it alone, and the work ends where it can. The shell, the notebook and the
connections of Python (`undisturbed`) run their statements so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds between two looks at the thread: not every system lets an interrupt through while one waits for ever."""
GRACE = 2.0
"""Seconds that a call which was canceled may take to end, before one asks whether it can."""


class Foreground(Generic[T]):
    """One call. `interrupted` tells whether Ctrl-C came while it ran; a call may end well all the same.

    `meanwhile` is called again and again as long as it runs. `is_stuck` tells of a call that was canceled whether it
    waits for somebody else, who may never come: then nobody waits for it."""

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
        """What the call gives or raises; KeyboardInterrupt when it is left alone, as a second Ctrl-C demands."""
        try:
            threading.Thread(target=self._guarded, daemon=True, name="statement").start()
            while not self._over.wait(PATIENCE):  # not `join`: in Python 3.11 an interrupted one takes it for ended
                self._meanwhile()
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop()
        except SystemExit:  # what a signal like SIGTERM raises: we leave, whatever the call gives
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
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._failures.append(error)
        finally:
            self._over.set()

    def _stop(self) -> None:
        """Cancel it, again and again: the interrupt may come before there is anything to cancel."""
        began = time.monotonic()
        while not self._over.is_set():
            self._cancel()
            if not self._over.wait(PATIENCE) and time.monotonic() - began > GRACE and self._is_stuck():
                return


def undisturbed(call: Callable[[], T], cancel: Callable[[], object], discard: Callable[[T], object]) -> T:
    """What the call gives or raises. Ctrl-C is passed on as KeyboardInterrupt once the call has ended, and what it gave
    is discarded. Interrupts reach the main thread alone, so any other makes the call itself."""
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
    """What the call gives or raises. After Ctrl-C one waits a moment for it and no longer: it may be one that waits for
    another machine, and changes nothing."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    foreground = Foreground(call, lambda: None, is_stuck=lambda: True)
    value = foreground.run()
    if foreground.interrupted:
        raise KeyboardInterrupt
    return value
