"""Background loading: a request returns the known value immediately, and an unknown one is loaded meanwhile.

Each catalog has its own queue with one thread, so a slow or broken catalog does not delay others. `refresh` marks all
values as stale: they are still returned, and loaded again on their next use.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 1000
"""Maximum number of values; the oldest are evicted."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    value: Any
    generation: int


@dataclass(slots=True)
class _Job:
    key: Hashable
    load: Callable[[], Any]
    default: Any
    generation: int


class Loader:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known: dict[Hashable, _Entry] = {}
        self._queues: dict[str, list[_Job]] = {}
        """The queued jobs of each queue; a queue that is present has a running thread."""
        self._generation = 0
        self.loaded = 0
        """Number of completed loads: when it grows, another request may return something else."""

    def get(self, queue_name: str, key: Hashable, load: Callable[[], T], default: T) -> T:
        """Returns the known value, or `default`; starts a load if the value is unknown or stale. Never blocks."""
        with self._changed:
            entry = self._known.get(key)
            if entry is None or entry.generation < self._generation:
                self._queue(queue_name, _Job(key, load, default, self._generation))
            return default if entry is None else entry.value

    def refresh(self) -> None:
        """Marks all values as stale."""
        with self._changed:
            self._generation += 1

    @property
    def busy(self) -> bool:
        return bool(self._queues)

    def settle(self, timeout: float | None = None) -> bool:
        """Waits until no load is running; returns whether this happened within `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queues, timeout)

    def _queue(self, queue_name: str, job: _Job) -> None:
        jobs = self._queues.get(queue_name)
        if jobs is None:
            self._queues[queue_name] = [job]
            threading.Thread(
                target=self._work, args=(queue_name,), daemon=True, name=f"completion {queue_name}"
            ).start()
        elif not any(other.key == job.key and other.generation == job.generation for other in jobs):
            jobs.append(job)

    def _work(self, queue_name: str) -> None:
        """The thread of a queue: runs its jobs in order until none is left."""
        while True:
            with self._changed:
                job = self._queues[queue_name][0]
            value = self._attempt(job)
            with self._changed:
                self._known.pop(job.key, None)
                self._known[job.key] = _Entry(value, job.generation)
                self.loaded += 1
                while len(self._known) > MOST:
                    del self._known[next(iter(self._known))]
                self._queues[queue_name].pop(0)
                if not self._queues[queue_name]:
                    del self._queues[queue_name]
                    self._changed.notify_all()
                    return

    def _attempt(self, job: _Job) -> Any:
        """Runs a load. After a failure the known value is kept, and the load is not repeated before the next
        refresh."""
        try:
            return job.load()
        except Exception as error:  # noqa: BLE001 - a statement reports the error; completion stays silent
            log.debug("completion could not load %s: %s", job.key, error)
            old = self._known.get(job.key)
            return job.default if old is None else old.value
