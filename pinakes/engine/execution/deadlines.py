"""Deadlines of many statements on one thread: the thread sleeps until the next of them, or until an earlier one comes.

The thread starts with the first deadline ever set, so an engine without statement_timeout has none.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

_SLACK = 64
"""Withdrawn deadlines that may stay in the heap before it is rebuilt."""


class Deadline:
    """One thing to do at one time. Ordered by time, then by age."""

    __slots__ = ("action", "order", "when")

    def __init__(self, when: float, order: int, action: Callable[[], object]) -> None:
        self.when = when
        self.order = order
        self.action: Callable[[], object] | None = action

    def __lt__(self, other: Deadline) -> bool:
        return (self.when, self.order) < (other.when, other.order)


class Deadlines:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._heap: list[Deadline] = []
        self._withdrawn = 0
        self._order = count()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """Deadlines that are still to come."""
        return len(self._heap) - self._withdrawn

    def set(self, seconds: float, action: Callable[[], object]) -> Deadline:
        """Run `action` in so many seconds, on the shared thread; it must be quick and must not raise."""
        deadline = Deadline(self._clock() + seconds, next(self._order), action)
        with self._changed:
            heapq.heappush(self._heap, deadline)
            if self._heap[0] is deadline:
                self._start_or_wake()
        return deadline

    def withdraw(self, deadline: Deadline) -> None:
        """The thing was done in time. The entry stays in the heap until it is due or there are too many such."""
        with self._changed:
            if deadline.action is None:
                return
            deadline.action = None
            self._withdrawn += 1
            if self._withdrawn > _SLACK + len(self._heap) // 2:
                self._heap = [d for d in self._heap if d.action is not None]
                heapq.heapify(self._heap)
                self._withdrawn = 0

    def close(self) -> None:
        """Stop the thread; deadlines that are still to come are dropped."""
        with self._changed:
            self._closed = True
            self._heap.clear()
            self._withdrawn = 0
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def run_due(self) -> float | None:
        """Run what is due; the seconds until the next one, or None when there is none."""
        for action in self._take_due():
            action()
        with self._changed:
            return self._pause()

    def _take_due(self) -> list[Callable[[], object]]:
        due = []
        with self._changed:
            now = self._clock()
            while self._heap and self._heap[0].when <= now:
                deadline = heapq.heappop(self._heap)
                if deadline.action is None:
                    self._withdrawn -= 1
                else:
                    due.append(deadline.action)
                    deadline.action = None
        return due

    def _start_or_wake(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name="pinakes-deadlines", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _run(self) -> None:
        while not self._closed:
            self.run_due()
            with self._changed:
                if not self._closed:
                    self._changed.wait(self._pause())

    def _pause(self) -> float | None:
        return max(0.0, self._heap[0].when - self._clock()) if self._heap else None
