"""The context of a write: how its native calls are cancelled, and where it may spill.

The statement that runs in this thread sets it once (`engine/run.py`); the sort, some layers below, reads it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution


@dataclass(frozen=True, slots=True)
class WriteContext:
    guard: Callable[[Callable[[], Any]], Any]
    """Runs a native call that may block; raises the statement's error if it is cancelled meanwhile."""
    spill_dir: str | None = None
    """The directory for rows that do not fit in memory; None for the system's default."""
    execution: Execution | None = None
    """The statement that writes, which checks the new rows of tables with CHECK constraints."""


_ALONE = WriteContext(lambda call: call())
_CURRENT: ContextVar[WriteContext] = ContextVar("write_context", default=_ALONE)


@contextmanager
def writing(execution: Execution, spill_dir: str | None) -> Iterator[None]:
    """Sets the context of the writes in this block."""
    token = _CURRENT.set(WriteContext(execution.query.interruptible, spill_dir, execution))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> WriteContext:
    return _CURRENT.get()
