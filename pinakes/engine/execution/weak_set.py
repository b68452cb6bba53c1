"""A set of weak references that can be iterated while other threads add to it.

`weakref.WeakSet` raises RuntimeError in that case.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class WeakSet(Generic[T]):
    def __init__(self) -> None:
        self._things: weakref.WeakSet[T] = weakref.WeakSet()
        self._lock = threading.RLock()  # a signal handler may look while its own thread adds

    def add(self, thing: T) -> None:
        with self._lock:
            self._things.add(thing)

    def __iter__(self) -> Iterator[T]:
        """Those that are alive now; what comes and goes meanwhile changes nothing."""
        with self._lock:
            return iter(list(self._things))
