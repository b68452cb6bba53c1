"""What DataFusion tells of a plan: its shape in a line, and what running it took.

A plan keeps its counters while and after it runs, so both may be asked at any time. Of the memory that a query takes
only joins tell: neither sorts and aggregations do, nor the pool that all take it from.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pinakes.engine.execution.query_info import Work

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan

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
    """None where nobody counts."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
