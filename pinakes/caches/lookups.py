"""Records the cache hits and misses of one statement, for EXPLAIN FULL.

A cache notes each lookup in the tally of its thread, if there is one (`Tally.counting`). Threads that do a part of the
work must copy the context (`contextvars.copy_context`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Lookup(NamedTuple):
    """One lookup in a cache."""

    cache: str
    hit: bool
    about: Hashable
    """The subject of the lookup; None for the statement itself."""


@dataclass(slots=True)
class Tally:
    lookups: list[Lookup] = field(default_factory=list)
    about: Hashable = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Counts the lookups within the block."""
        token = _COUNTING.set(self)
        try:
            yield
        finally:
            _COUNTING.reset(token)


_COUNTING: ContextVar[Tally | None] = ContextVar("counting", default=None)


class asking_about:
    """Sets the subject of the lookups within the block. A class for speed, since it is entered for each table of each
    statement.
    """

    __slots__ = ("_outer", "_tally", "_what")

    def __init__(self, what: Hashable) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._tally = _COUNTING.get()
        if self._tally is not None:
            self._outer, self._tally.about = self._tally.about, self._what

    def __exit__(self, *_: object) -> None:
        if self._tally is not None:
            self._tally.about = self._outer


def record_lookup(cache: str, *, hit: bool) -> None:
    """Records a hit or miss of a cache."""
    tally = _COUNTING.get()
    if tally is not None:
        tally.lookups.append(Lookup(cache, hit, tally.about))
