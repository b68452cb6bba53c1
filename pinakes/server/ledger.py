"""Totals of all statements since the server started; the tracker keeps only recent ones.

The tracker reports each statement at its end, possibly from the garbage collector within any code of this thread. So
this module takes no lock that could be held, and a separate thread writes the log (`logs.py`).
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
"""Upper bounds of the histogram buckets."""


@dataclass(slots=True)
class Spread:
    """A histogram: the number of values per bucket, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    sum: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Returns cumulative counts, as Prometheus expects them."""
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
        """Ended statements for the log writer; None stops it."""
        self.logs = False

    def note(self, query: Query) -> None:
        """Records the end of a statement. The tracker calls it under its lock, so calls do not overlap."""
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
