"""The totals of all statements since the server began: the tracker forgets, this does not.

The tracker tells of each statement at its end, and may do so from the garbage collector, within whatever this thread is
doing: so nothing here takes a lock that could be held, and logging is left to a thread of its own (`logs.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple

from pinakes.engine.execution.query import Query
from pinakes.engine.execution.query_info import QueryInfo

SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0)
"""The upper bounds of the histograms' buckets."""


@dataclass(slots=True)
class Spread:
    """A histogram: how many values were at most as large as each bound, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    sum: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """As Prometheus has them: each counts those before it, too."""
        found, so_far = [], 0
        for bound, count in zip([*map(str, SECONDS), "+Inf"], self.counts, strict=True):
            so_far += count
            found.append((bound, float(so_far)))
        return found


class Ended(NamedTuple):
    state: str
    kind: str


class Ledger:
    def __init__(self) -> None:
        self.ended: Counter[Ended] = Counter()
        self.errors: Counter[str] = Counter()
        self.amounts: Counter[str] = Counter()
        self.elapsed, self.queued = Spread(), Spread()
        self.log: SimpleQueue[QueryInfo | None] = SimpleQueue()
        """Those that have ended, for who writes them down; None ends it."""
        self.logs = False

    def note(self, query: Query) -> None:
        """A statement has ended. The tracker calls it under its lock: one at a time."""
        info = query.info()
        self.ended[Ended(str(info.state), info.kind or "unread")] += 1
        if info.error_code is not None:
            self.errors[info.error_code] += 1
        self.elapsed.add(info.elapsed)
        waited = info.elapsed if info.started is None else (info.started - info.created).total_seconds()
        self.queued.add(max(0.0, waited))
        self._add(info)
        if self.logs:
            self.log.put(info)

    def _add(self, info: QueryInfo) -> None:
        amounts = {
            "returned_rows": info.rows,
            "returned_bytes": info.bytes,
            "written_rows": info.written,
            "read_rows": info.work.rows,
            "read_bytes": info.work.bytes,
            "spilled_bytes": info.work.spilled,
        }
        for name, amount in amounts.items():
            self.amounts[name] += amount or 0
