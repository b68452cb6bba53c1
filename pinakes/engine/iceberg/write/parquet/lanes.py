"""Threads that encode row groups while the query runs on. Each lane is one thread with files of its own.

What may wait is bounded, so that a query that is faster than the encoders is held up and not held in memory. The first
error in a lane comes out of the next `put`, or of leaving the block; no thread lives on after it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol

import pyarrow as pa
from pyiceberg.partitioning import PartitionKey

Job = tuple[PartitionKey | None, pa.Table]


class Writes(Protocol):
    """What a lane writes to; used by its thread alone."""

    def write(self, key: PartitionKey | None, table: pa.Table) -> None: ...

    def close(self) -> None:
        """Finish all files."""
        ...

    def discard(self) -> None:
        """Give up what is not finished."""
        ...


class Lanes:
    """Used as a context: on the way out all files are finished, or given up when there was an error."""

    def __init__(self, writers: Sequence[Writes], waiting: int = 1) -> None:
        self._changed = threading.Condition()
        self._shared: deque[Job] = deque()
        self._own: list[deque[Job]] = [deque() for _ in writers]
        self._most = waiting
        self._over = False
        self._error: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._work, args=(i, w), name=f"pinakes-write-{i}", daemon=True)
            for i, w in enumerate(writers)
        ]

    @property
    def count(self) -> int:
        return len(self._threads)

    def put(self, key: PartitionKey | None, table: pa.Table, lane: int | None = None) -> None:
        """Have the rows written, by that lane or by any; waits while there is enough to do."""
        jobs = self._shared if lane is None else self._own[lane]
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or len(jobs) < self._most)
            if self._error is not None:
                raise self._error
            jobs.append((key, table))
            self._changed.notify_all()

    def __enter__(self) -> Lanes:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._over = True
            self._error = self._error or error
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if error is None and self._error is not None:
            raise self._error

    def _work(self, lane: int, writer: Writes) -> None:
        try:
            while (job := self._next(lane)) is not None:
                writer.write(*job)
                del job  # a row group is not kept while waiting for the next
            self._finish(writer)
        except BaseException as error:  # noqa: BLE001  # it is raised again in the thread that puts
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()
            writer.discard()

    def _finish(self, writer: Writes) -> None:
        finish: Callable[[], None] = writer.close if self._error is None else writer.discard
        finish()

    def _next(self, lane: int) -> Job | None:
        """The next row group, or None when there is none any more."""
        own = self._own[lane]
        with self._changed:
            self._changed.wait_for(lambda: bool(self._error or own or self._shared or self._over))
            if self._error is not None or not (own or self._shared):
                return None
            job = own.popleft() if own else self._shared.popleft()
            self._changed.notify_all()
            return job
