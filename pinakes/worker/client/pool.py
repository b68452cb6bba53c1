"""Connections to one worker that are kept for the next who needs one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinakes.worker.client.connection import Connection
from pinakes.worker.exceptions import WorkerError, WorkerTimeout

KEPT = 8
"""Connections that stay open while nobody uses them."""


class Pool:
    """At most `size` at a time; one that went wrong is closed, and the next who asks gets a new one."""

    def __init__(self, connect: Callable[[], Connection], *, size: int = 16, patience: float = 60.0) -> None:
        self._connect = connect
        self._free: list[Connection] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(size)
        self._patience = patience
        self._size = size
        self._closed = False
        self.started = 0
        """How many were opened so far."""

    def take(self, *, wait: bool = True, fresh: bool = False) -> Connection | None:
        """One that nobody else uses, and if it is to be fresh, nobody has used before; None when there is no place and
        nobody is to wait."""
        if not self._places.acquire(blocking=wait, timeout=self._patience if wait else None):
            if not wait:
                return None
            raise WorkerTimeout(f"all {self._size} connections to the worker are in use")
        try:
            with self._lock:
                if self._closed:
                    raise WorkerError("the worker was detached")
                found = None if fresh else self._idle()
            if found is None:
                found = self._connect()
                self.started += 1
            return found
        except BaseException:
            self._places.release()
            raise

    def _idle(self) -> Connection | None:
        """One that is free; those that died while nobody used them go."""
        while self._free:
            found = self._free.pop()
            if found.is_idle():
                return found
            found.close()
        return None

    def give_back(self, connection: Connection) -> None:
        with self._lock:
            keep = connection.alive and not self._closed and len(self._free) < KEPT
            if keep:
                self._free.append(connection)
        self._places.release()
        if not keep:
            connection.close()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        taken = self.take()
        assert taken is not None
        try:
            yield taken
        finally:
            self.give_back(taken)

    def close(self) -> None:
        """Those that are in use are closed when they are given back."""
        with self._lock:
            self._closed, free = True, self._free
            self._free = []
        for connection in free:
            connection.close()
