"""What is told of a statement: how far it came, where its time went, what it read and gave. `query.py` fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    QUEUED = "QUEUED"
    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


@dataclass(frozen=True, slots=True)
class Work:
    """What running plans took: rows and bytes read by their scans, bytes written aside for want of memory, and bytes
    that joins held. None where no plan was run, or nothing tells."""

    rows: int | None = None
    bytes: int | None = None
    spilled: int | None = None
    held: int | None = None
    """Of several plans the most: they are run one after the other."""

    def __add__(self, other: Work) -> Work:
        return Work(
            _both(self.rows, other.rows),
            _both(self.bytes, other.bytes),
            _both(self.spilled, other.spilled),
            max((held for held in (self.held, other.held) if held is not None), default=None),
        )


NO_WORK = Work()


def _both(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True, slots=True)
class QueryInfo:
    """A query as it was when asked for."""

    query_id: str
    user: str
    source: str
    shown: str
    """The text, secrets masked."""
    kind: str
    state: State
    created: datetime
    started: datetime | None
    ended: datetime | None
    elapsed: float
    """Seconds from its first moment to its last, or until now."""
    seconds: Mapping[str, float]
    """Time spent per phase: parse, resolve, plan, prune, execute; a phase within another counts for itself alone."""
    rows: int
    bytes: int
    written: int | None
    """Rows that it inserted, changed or deleted."""
    work: Work
    plan: str | None
    """The shape of its plan."""
    engine: str
    """The one that runs it: local, or the name of another."""
    progress: str
    """How far another engine is with it, in words; empty when it runs here, or is over."""
    error_code: str | None
    error_message: str | None
    catalogs: tuple[str, ...]
