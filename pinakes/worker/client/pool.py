"""A pool of connections to one worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pinakes.worker.client.connection import Connection
from pinakes.worker.exceptions import WorkerError, WorkerTimeout

KEPT = 8
"""The maximum number of idle connections that are kept open."""


class Pool:
    """At most `size` connections at a time. A failed connection is closed, and a new one is opened for the next
    request.
    """

    def __init__(self, connect: Callable[[], Connection], *, size: int = 16, patience: float = 60.0) -> None:
        self._connect = connect
        self._free: list[Connection] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(size)
        self._patience = patience
        self._size = size
        self._closed = False
        self.started = 0
        """The number of connections opened so far."""

    def take(self, *, wait: bool = True, fresh: bool = False) -> Connection | None:
        """Returns a connection for exclusive use, with `fresh` a new one; None if `wait` is false and the limit is
        reached.
        """
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
        """Returns an idle connection; closes those that died while idle."""
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
        """Closes the pool. Connections in use are closed when they are returned."""
        with self._lock:
            self._closed, free = True, self._free
            self._free = []
        for connection in free:
            connection.close()
