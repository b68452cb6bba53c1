"""What a plan was made of: the entries of caches that were read on the way, to tell later whether they are the same.

A plan that was made of what the caches had is right for as long as they have the very same: to plan anew would read the
same entries. Only entries that may change are written down; a manifest never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from pinakes.caches.base import Cache


class Read(NamedTuple):
    cache: Cache[Any, Any]
    key: Any
    value: object

    @property
    def holds(self) -> bool:
        """The cache has this very entry, and it is not too old."""
        return self.cache.holds(self.key, self.value)


class Reads:
    """Collects what is read within `collecting`."""

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
        """What was read before, for what is used again."""
        self._found.update({(read.cache.name, read.key): read for read in reads})

    def forget(self) -> bool:
        """Whoever asks for any of it from now on reads it anew. Whether there was anything that caches still had."""
        held = [read for read in self._found.values() if read.holds]
        for read in held:
            read.cache.invalidate(read.key)
        return bool(held)

    def add(self, read: Read) -> None:
        known = self._found.setdefault((read.cache.name, read.key), read)
        self._is_whole &= known.value is read.value  # it changed on the way: what was made is of both

    @property
    def whole(self) -> tuple[Read, ...] | None:
        """All that was read; None when it does not fit together."""
        return tuple(self._found.values()) if self._is_whole else None


def mounts_of(reads: Iterable[Read]) -> frozenset[str]:
    """The mounts that entries are of."""
    return frozenset(read.key.mount for read in reads)


_COLLECTING: ContextVar[Reads | None] = ContextVar("collecting", default=None)


def noted(cache: Cache[Any, Any], key: Any, value: object) -> None:
    """A cache that may change gave this entry."""
    reads = _COLLECTING.get()
    if reads is not None:
        reads.add(Read(cache, key, value))
