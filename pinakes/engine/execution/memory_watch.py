"""Stops statements of a server whose process takes more memory than it may, before the system ends the process.

DataFusion counts what sorts, joins and aggregates keep (`memory_limit`), and neither the batches on their way nor the
rows that results wait with. One thread compares the memory of the process with its limit, and stops the statement
during which it has grown fastest.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import pyarrow as pa

log = logging.getLogger(__name__)

INTERVAL = 0.05
"""Seconds between two looks at the memory."""
RESPITE = 1.0
"""Seconds that a statement which was stopped has to release its memory, before another is stopped."""
_STATM = Path("/proc/self/statm")
_LEAST_SECONDS = 0.5


class Stoppable(Protocol):
    """A statement that runs."""

    @property
    def query_id(self) -> str: ...

    @property
    def is_stopped(self) -> bool: ...

    def exhaust(self, used: int, limit: int) -> bool:
        """Stops it with OutOfMemory; whether it still ran."""
        ...


def process_memory() -> int | None:
    """The bytes of memory that are this process's own; None where the system does not report it."""
    try:
        _, resident, shared, *_ = _STATM.read_text().split()
    except OSError:
        return None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


class MemoryWatch:
    def __init__(
        self,
        limit: int,
        alive: Callable[[], Iterable[Stoppable]],
        measure: Callable[[], int | None] = process_memory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit, self._alive, self._measure, self._clock = limit, alive, measure, clock
        self._began: dict[str, tuple[float, int]] = {}
        """When each running statement was first seen, and the memory of the process then."""
        self._wait_until = 0.0
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._measure() is not None:
            self._thread = threading.Thread(target=self._run, name="pinakes-memory", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def look(self) -> Stoppable | None:
        """Stops a statement if there is too little memory; returns it."""
        used, now = self._measure(), self._clock()
        if used is None:
            return None
        running = [query for query in self._alive() if not query.is_stopped]
        self._began = {q.query_id: self._began.get(q.query_id, (now, used)) for q in running}
        if used <= self._limit or now < self._wait_until or not running:
            return None
        worst = max(running, key=lambda query: self._growth(query, used, now))
        if not worst.exhaust(used, self._limit):
            return None
        log.warning("query %s was stopped: the process has %d bytes of memory", worst.query_id, used)
        self._wait_until = now + RESPITE
        return worst

    def _growth(self, query: Stoppable, used: int, now: float) -> float:
        """Bytes by which the process has grown each second since the statement began."""
        since, before = self._began[query.query_id]
        return (used - before) / max(now - since, _LEAST_SECONDS)

    def _run(self) -> None:
        while not self._closed.wait(INTERVAL):
            try:
                if self.look() is not None:
                    pa.default_memory_pool().release_unused()
            except Exception:  # the thread must survive
                log.exception("memory could not be watched")
