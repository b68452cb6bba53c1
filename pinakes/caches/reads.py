"""Records the cache entries that a plan was made from, to check later whether they are unchanged.

A plan is valid while the caches have the same entries: planning again would read the same metadata. Only mutable
entries are recorded; a manifest never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from operator import attrgetter
from typing import Any, NamedTuple

from pinakes.caches.cache import Cache


class Read(NamedTuple):
    cache: Cache[Any, Any]
    key: Any
    value: object

    @property
    def holds(self) -> bool:
        """Whether the cache still has this entry, and it is not expired."""
        return self.cache.holds(self.key, self.value)


class Reads:
    """Collects the reads within `collecting`."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Any], Read] = {}
        self._is_whole = True

    @contextmanager
    def collecting(self) -> Iterator[None]:
        token = _COLLECTING.set(self)
        try:
            yield
        finally:
            _COLLECTING.reset(token)

    def adopt(self, reads: Iterable[Read]) -> None:
        """Adds earlier reads, for a result that is reused."""
        self._found.update({(read.cache.name, read.key): read for read in reads})

    def forget(self) -> bool:
        """Invalidates the recorded entries. Returns whether any of them was still cached."""
        held = [read for read in self._found.values() if read.holds]
        for read in held:
            read.cache.invalidate(read.key)
        return bool(held)

    def add(self, read: Read) -> None:
        known = self._found.setdefault((read.cache.name, read.key), read)
        self._is_whole &= known.value is read.value  # it changed in between

    @property
    def whole(self) -> tuple[Read, ...] | None:
        """All reads; None if they are inconsistent."""
        return tuple(self._found.values()) if self._is_whole else None


def mounts_of(reads: Iterable[Read]) -> frozenset[str]:
    """Returns the mounts of the entries."""
    return frozenset(map(_MOUNT, reads))


_MOUNT = attrgetter("key.mount")
_COLLECTING: ContextVar[Reads | None] = ContextVar("collecting", default=None)


def record_read(cache: Cache[Any, Any], key: Any, value: object) -> None:
    """Records that a cache of mutable entries returned this entry."""
    reads = _COLLECTING.get()
    if reads is not None:
        reads.add(Read(cache, key, value))
