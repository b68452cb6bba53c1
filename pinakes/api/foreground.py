"""A call that Ctrl-C stops in good order: it runs on a thread of its own, which is canceled and not torn apart.

An interrupt that is raised wherever the main thread happens to be could leave a commit half done. So the main thread
does nothing but wait; the interrupt reaches it alone, and the work ends where it can.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

PATIENCE = 0.2
"""Seconds between two looks at the thread: not every system lets an interrupt through while one waits for ever."""


class Foreground(Generic[T]):
    """One call. `interrupted` tells whether Ctrl-C came while it ran; a call may end well all the same."""

    def __init__(self, call: Callable[[], T], cancel: Callable[[], object]) -> None:
        self.interrupted = False
        self._call = call
        self._cancel = cancel
        self._values: list[T] = []
        self._failures: list[BaseException] = []
        self._over = threading.Event()

    def run(self) -> T:
        """What the call gives or raises. A second Ctrl-C leaves without waiting for it."""
        try:
            threading.Thread(target=self._guarded, daemon=True, name="statement").start()
            self._wait()
        except KeyboardInterrupt:
            self.interrupted = True
            self._wait()
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

    def _wait(self) -> None:
        """Not by joining the thread: in Python 3.11 and 3.12 one that is interrupted in `join` takes it for ended."""
        while not self._over.wait(0.0 if self.interrupted else PATIENCE):
            if self.interrupted:  # each time: the interrupt may come before there is anything to cancel
                self._cancel()
                self._over.wait(PATIENCE)
