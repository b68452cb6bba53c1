"""Threads that encode row groups in parallel with the query. Each has its own files.

The queues are bounded, so that a query that is faster than the encoders waits instead of using memory. The first error
in a thread is raised by the next `put`, or on exit of the block; then all threads end.
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
    """The writer of one thread."""

    def write(self, key: PartitionKey | None, table: pa.Table) -> None: ...

    def close(self) -> None:
        """Finishes all files."""
        ...

    def discard(self) -> None:
        """Abandons unfinished files."""
        ...


class EncoderThreads:
    """A context manager: on exit all files are finished, or discarded after an error."""

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

    def put(self, key: PartitionKey | None, table: pa.Table, index: int | None = None) -> None:
        """Queues rows for one thread or for any; waits while the queue is full."""
        jobs = self._shared if index is None else self._own[index]
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or len(jobs) < self._most)
            if self._error is not None:
                raise self._error
            jobs.append((key, table))
            self._changed.notify_all()

    def __enter__(self) -> EncoderThreads:
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

    def _work(self, index: int, writer: Writes) -> None:
        try:
            while (job := self._next(index)) is not None:
                writer.write(*job)
                del job  # releases the row group while waiting
            self._finish(writer)
        except BaseException as error:  # noqa: BLE001  # it is raised again in the thread that puts
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()
            writer.discard()

    def _finish(self, writer: Writes) -> None:
        finish: Callable[[], None] = writer.close if self._error is None else writer.discard
        finish()

    def _next(self, index: int) -> Job | None:
        """Returns the next row group; None at the end."""
        own = self._own[index]
        with self._changed:
            self._changed.wait_for(lambda: bool(self._error or own or self._shared or self._over))
            if self._error is not None or not (own or self._shared):
                return None
            job = own.popleft() if own else self._shared.popleft()
            self._changed.notify_all()
            return job
