"""The record of a statement: its state, times, and what it read and returned. `query.py` fills it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pinakes.engine.datafusion.plan_metrics import Work


class State(StrEnum):
    QUEUED = "QUEUED"
    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


@dataclass(frozen=True, slots=True)
class QueryInfo:
    """A snapshot of a query's state."""

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
