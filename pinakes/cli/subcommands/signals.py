"""The signals of a server: SIGHUP reloads the configuration, SIGTERM and SIGINT stop it."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType

GLANCE = 0.25
"""Seconds between two checks."""


class Signals:
    """Queues signals for `next` within the block. While `draining`, a second stop signal sets `abort`; otherwise a
    second one, and always a third one, exits the process immediately."""

    RELOAD: int | None = getattr(signal, "SIGHUP", None)

    def __init__(self) -> None:
        self.abort = threading.Event()
        self.draining = False
        self._came: SimpleQueue[int] = SimpleQueue()  # a signal handler may put into it at any point
        self._ending = False
        self._before: dict[int, object] = {}

    def next(self) -> int:
        """Returns the next signal. It wakes up regularly: the system may deliver a signal to another thread, and
        Python's handler then waits for the main thread."""
        while True:
            with suppress(Empty):
                return self._came.get(timeout=GLANCE)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._ending and (not self.draining or self.abort.is_set()):
            os._exit(128 + number)
        if self._ending:
            self.abort.set()
        self._ending = True
        self._came.put(number)

    def _reload(self, number: int, frame: FrameType | None) -> None:
        self._came.put(number)

    def __enter__(self) -> Signals:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._end)
        if self.RELOAD is not None:
            self._before[self.RELOAD] = signal.signal(self.RELOAD, self._reload)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
