"""Runs calls of catalogs on separate threads, with a limit per catalog and a timeout.

A thread that hangs in a call can't be stopped, so each lane has a bounded number of threads, which are daemons: a
catalog that never responds blocks only the threads of its own lane, and does not keep the process from exiting.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
A = TypeVar("A")

WIDTH = 8
"""The maximum number of concurrent calls of one catalog."""
LINGER = 0.5
"""Seconds that a thread waits for another job: starting a thread takes longer than most calls."""
TICK = 0.05
"""Seconds between two checks of a waiting thread whether its statement was cancelled."""


class TooSlow(Exception):
    """A call exceeded its timeout; `stuck` if it did not start, because every thread of the lane hangs."""

    def __init__(self, *, stuck: bool) -> None:
        super().__init__()
        self.stuck = stuck


@dataclass(slots=True)
class Job(Generic[T]):
    call: Callable[[], T]
    made: float = field(default_factory=time.monotonic)
    begun: float | None = None
    done: threading.Event = field(default_factory=threading.Event)
    given_up: bool = False
    _value: T | None = None
    _error: BaseException | None = None

    def run(self) -> None:
        self.begun = time.monotonic()
        try:
            self._value = self.call()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._error = error
        self.done.set()

    def result(self, timeout: float, check: Callable[[], None]) -> T:
        """Returns the call's result or raises its error; raises TooSlow after `timeout`, counted from its start."""
        while not self.done.wait(TICK):
            check()
            since = self.begun if self.begun is not None else self.made
            if time.monotonic() - since > timeout:
                self.given_up = True
                raise TooSlow(stuck=self.begun is None)
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # it is done, and has no error


class Busy(NamedTuple):
    """The number of running and queued calls of a lane."""

    running: int
    waiting: int


@dataclass(slots=True)
class _Queue:
    ready: threading.Condition
    jobs: deque[Job[object]] = field(default_factory=deque)
    threads: int = 0
    idle: int = 0
    """Threads that wait for a job."""

    def take(self) -> Job[object] | None:
        while self.jobs:
            job = self.jobs.popleft()
            if not job.given_up:
                return job
        return None


class CatalogExecutor:
    """One lane per catalog and user, created on first use, removed after a short idle time."""

    def __init__(self, width: int = WIDTH) -> None:
        self.width = width
        self._lock = threading.Lock()
        self._queues: dict[Hashable, _Queue] = {}

    def submit(self, executor_key: Hashable, call: Callable[[], T]) -> Job[T]:
        job = Job(call)
        with self._lock:
            found = self._queues.get(executor_key) or self._queues.setdefault(
                executor_key, _Queue(threading.Condition(self._lock))
            )
            found.jobs.append(job)  # type: ignore[arg-type]  # its value is not read here
            starts = found.threads < self.width and len(found.jobs) > found.idle
            found.threads += starts
            found.ready.notify()
        if starts:
            threading.Thread(target=self._work, args=(executor_key, found), daemon=True, name="metadata").start()
        return job

    def busy(self, executor_key: Hashable) -> Busy:
        """Returns the current load of a lane."""
        with self._lock:
            found = self._queues.get(executor_key)
            if found is None:
                return Busy(0, 0)
            return Busy(found.threads - found.idle, sum(not job.given_up for job in found.jobs))

    def _work(self, key: Hashable, executor_key: _Queue) -> None:
        while (job := self._next(key, executor_key)) is not None:
            job.run()
            del job  # it may hold a complete listing, or an error

    def _next(self, key: Hashable, executor_key: _Queue) -> Job[object] | None:
        """Returns the next job of a lane; a thread that gets none for a while ends."""
        with self._lock:
            waits = True
            while (job := executor_key.take()) is None and waits:
                executor_key.idle += 1
                waits = executor_key.ready.wait(LINGER)
                executor_key.idle -= 1
            executor_key.threads -= job is None
            if not executor_key.threads and self._queues.get(key) is executor_key:
                del self._queues[key]
            return job


def submit_ahead(items: Iterable[A], submit: Callable[[A], T], window: int) -> Iterator[tuple[A, T]]:
    """Yields each item with its job, in order, while the jobs of up to `window` following items run."""
    waiting: deque[tuple[A, T]] = deque()
    for item in items:
        waiting.append((item, submit(item)))
        if len(waiting) > window:
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()
