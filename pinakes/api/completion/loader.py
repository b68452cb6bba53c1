"""Loads in the background: who asks gets what is known at once, and what is not is fetched meanwhile.

Each catalog has a lane with one thread of its own, so a slow or broken one holds up nobody else. `refresh` makes
everything stale: it is still given, and fetched again when it is next asked for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 1000
"""Values that are kept; the oldest goes first."""

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
        self._lanes: dict[str, list[_Job]] = {}
        """The jobs of each lane; one whose list is there has a thread at work."""
        self._generation = 0
        self.loaded = 0
        """How many loads have ended: when it grows, asking again may give something else."""

    def get(self, lane: str, key: Hashable, load: Callable[[], T], default: T) -> T:
        """The value as it is known now; `default` when it never was. Never waits."""
        with self._changed:
            entry = self._known.get(key)
            if entry is None or entry.generation < self._generation:
                self._queue(lane, _Job(key, load, default, self._generation))
            return default if entry is None else entry.value

    def refresh(self) -> None:
        """What is known may have changed."""
        with self._changed:
            self._generation += 1

    @property
    def busy(self) -> bool:
        return bool(self._lanes)

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until nothing is being fetched any more; whether that came within `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, timeout)

    def _queue(self, lane: str, job: _Job) -> None:
        jobs = self._lanes.get(lane)
        if jobs is None:
            self._lanes[lane] = [job]
            threading.Thread(target=self._work, args=(lane,), daemon=True, name=f"completion {lane}").start()
        elif not any(other.key == job.key and other.generation == job.generation for other in jobs):
            jobs.append(job)

    def _work(self, lane: str) -> None:
        """A lane's thread: its jobs in turn, until there are none."""
        while True:
            with self._changed:
                job = self._lanes[lane][0]
            value = self._attempt(job)
            with self._changed:
                self._known.pop(job.key, None)
                self._known[job.key] = _Entry(value, job.generation)
                self.loaded += 1
                while len(self._known) > MOST:
                    del self._known[next(iter(self._known))]
                self._lanes[lane].pop(0)
                if not self._lanes[lane]:
                    del self._lanes[lane]
                    self._changed.notify_all()
                    return

    def _attempt(self, job: _Job) -> Any:
        """What the job loads. A failure keeps what was known, and is not tried again before the next refresh."""
        try:
            return job.load()
        except Exception as error:  # noqa: BLE001 - whoever runs a statement on it is told; typing is not disturbed
            log.debug("completion could not load %s: %s", job.key, error)
            old = self._known.get(job.key)
            return job.default if old is None else old.value
