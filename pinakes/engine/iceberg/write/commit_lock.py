"""A lock per table for commits within this process, so that threads wait instead of colliding.

Conflicts with other processes are resolved by compare-and-set.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from pyiceberg.table import Table


class _Turn:
    def __init__(self) -> None:
        self.lock = threading.RLock()


_TURNS: weakref.WeakValueDictionary[str, _Turn] = weakref.WeakValueDictionary()
_GUARD = threading.Lock()


@contextmanager
def turn(table: Table) -> Iterator[None]:
    """Holds the process-wide commit lock of this table."""
    key = str(table.metadata.table_uuid)
    with _GUARD:
        mine = _TURNS.setdefault(key, _Turn())
    with mine.lock:
        yield
