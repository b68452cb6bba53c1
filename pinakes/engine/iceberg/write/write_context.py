"""What a write may use of the statement that it is part of: how its native calls are stopped, and where it may spill.

The statement that runs in this thread is told once (`engine/run.py`); the sorting of rows, some layers below, asks
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Surroundings:
    guard: Callable[[Callable[[], Any]], Any]
    """Runs a native call that may block; when the statement is stopped meanwhile, its error comes out."""
    spill_dir: str | None = None
    """Where rows may be kept that do not fit in memory; None for the system's own place."""


_ALONE = Surroundings(lambda call: call())
_CURRENT: ContextVar[Surroundings] = ContextVar("surroundings", default=_ALONE)


@contextmanager
def writing(guard: Callable[[Callable[[], Any]], Any], spill_dir: str | None) -> Iterator[None]:
    """What is written within this belongs to one statement."""
    token = _CURRENT.set(Surroundings(guard, spill_dir))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Surroundings:
    return _CURRENT.get()
