"""What one statement asked of the caches: for EXPLAIN FULL, which tells what was at hand and what had to be loaded.

A cache tells whoever counts on its thread (`Tally.counting`); mostly nobody does. Threads that do a part of the work
must take the context along (`contextvars.copy_context`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


class Asked(NamedTuple):
    """One question to a cache."""

    cache: str
    hit: bool
    about: Hashable
    """For what it was asked; None for the statement as a whole."""


@dataclass(slots=True)
class Tally:
    asked: list[Asked] = field(default_factory=list)
    about: Hashable = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is asked within."""
        token = _COUNTING.set(self)
        try:
            yield
        finally:
            _COUNTING.reset(token)


_COUNTING: ContextVar[Tally | None] = ContextVar("counting", default=None)


class asking_about:
    """What is asked within is for this. A class, since it is entered for each table of each statement."""

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


def note(cache: str, *, hit: bool) -> None:
    """A cache was asked, and had it or had not."""
    tally = _COUNTING.get()
    if tally is not None:
        tally.asked.append(Asked(cache, hit, tally.about))
