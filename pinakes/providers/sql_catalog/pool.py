"""A bounded pool of database connections, for any driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from pinakes.core.errors import CatalogUnavailable

C = TypeVar("C")


class Pool(Generic[C]):
    """At most `size` connections, opened when needed; the last one used is used next, so that the others stay idle."""

    def __init__(
        self, place: str, connect: Callable[[], C], disconnect: Callable[[C], None], size: int, patience: float
    ) -> None:
        self._place = place
        self._connect = connect
        self._disconnect = disconnect
        self._size = max(1, size)
        self._patience = patience
        self._free = threading.Semaphore(self._size)
        self._lock = threading.Lock()
        self._idle: list[C] = []
        self._closed = False

    @contextmanager
    def lease(self) -> Iterator[C]:
        """Yields a connection for exclusive use. After an error it is not used again."""
        if not self._free.acquire(timeout=self._patience):
            raise CatalogUnavailable(
                f"{self._place}: all {self._size} connections were busy for {self._patience:g} seconds; "
                f"MAX_CONNECTIONS allows more"
            )
        try:
            connection = self._take()
            try:
                yield connection
            except BaseException:
                self._disconnect(connection)
                raise
            self._put(connection)
        finally:
            self._free.release()

    def clear(self) -> None:
        """Closes idle connections: after one broke, the others are likely to be broken too."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            self._disconnect(connection)

    def close(self) -> None:
        """Closes the pool. Connections in use are closed when they are returned."""
        self._closed = True
        self.clear()

    def _take(self) -> C:
        with self._lock:
            if self._closed:
                raise CatalogUnavailable(f"{self._place} is closed; the catalog was detached. ATTACH it again.")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _put(self, connection: C) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        self._disconnect(connection)
