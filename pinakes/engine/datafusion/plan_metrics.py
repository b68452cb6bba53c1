"""Metrics of a plan: its operators in one line, and the work of running it.

A plan keeps its counters while it runs and afterwards. Memory is counted by joins only: sorts, aggregations and the
memory pool report none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan


@dataclass(frozen=True, slots=True)
class Work:
    """The work of plans: rows and bytes read by their scans, bytes spilled, and bytes held by joins. None if no plan
    was run, or there is no counter."""

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


MOST = 500
"""Characters of a summary; longer ones are cut."""

_NODE = re.compile(
    r"^ *((?:(?:Inner|Full|Cross|(?:Left|Right)(?:Semi|Anti|Mark)?) )?Join|Aggregate|Distinct|DistinctOn|Filter|Limit"
    r"|Sort|Repartition|TableScan|Union|Unnest|Values|WindowAggr|EmptyRelation|RecursiveQuery|Explain|Analyze)\b",
    re.MULTILINE,
)
"""Only these words are taken: whatever else begins a line may come from a value of the query."""


def summary_of(optimized: LogicalPlan) -> str:
    """The operators from the top down."""
    text = " > ".join(_NODE.findall(optimized.display_indent())) or "Projection"
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"


def count_joins(plan: LogicalPlan, most: int) -> int:
    """The joins among the first `most` operators of a plan: parts of it that are shared count wherever they stand."""
    found, steps, waiting = 0, 0, [plan]
    while waiting and steps < most:
        node = waiting.pop()
        inputs = node.inputs()
        steps += 1
        found += len(inputs) > 1 and "Join" in node.display()[:12]
        waiting += inputs
    return found


def work_of(frame: DataFrame) -> Work:
    """What a plan that was begun has done so far."""
    rows: list[int | None] = []
    read: list[int | None] = []
    spilled: list[int | None] = []
    held: list[int | None] = []
    nodes = [frame.execution_plan()]
    while nodes:
        node = nodes.pop()
        below, counted = node.children(), node.metrics()
        nodes += below
        if counted is not None:
            spilled.append(counted.spilled_bytes)
            held.append(counted.sum_by_name("build_mem_used"))
            if not below:
                rows.append(counted.output_rows)
                read.append(counted.sum_by_name("bytes_scanned"))
    return Work(_sum(rows), _sum(read), _sum(spilled), _sum(held))


def _sum(counts: list[int | None]) -> int | None:
    """None where there is no counter."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
