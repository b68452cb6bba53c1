"""Keeps the order of a query's ORDER BY when its rows are written to files.

DataFusion drops ORDER BY in a subquery, where SQL gives it no meaning, unless LIMIT or OFFSET depend on it. A query
that is wrapped to convert its rows to the form of a table therefore gets OFFSET 0.
"""

from __future__ import annotations

from datafusion import DataFrame
from datafusion.plan import LogicalPlan

_ABOVE = ("Projection", "Limit")
"""Nodes that may be above the ORDER BY of a query: a projection removes columns that only ORDER BY uses."""


def is_ordered(frame: DataFrame) -> bool:
    """Returns whether the outermost clause of the query is ORDER BY, ignoring LIMIT and OFFSET."""
    return _kinds(frame)[-1] == "Sort"


def wrapped(text: str, frame: DataFrame) -> str:
    """Returns the query as a subquery that keeps its order. It begins on a new line."""
    kinds = _kinds(frame)
    needed = kinds[-1] == "Sort" and "Limit" not in kinds
    return f"(\n{text}\n{'OFFSET 0' if needed else ''})"


def _kinds(frame: DataFrame) -> list[str]:
    """Returns the node types of the plan from the top down to the ORDER BY, if there is one."""
    plan: LogicalPlan = frame.logical_plan()
    kinds = [type(plan.to_variant()).__name__]
    while kinds[-1] in _ABOVE:
        plan = plan.inputs()[0]
        kinds.append(type(plan.to_variant()).__name__)
    return kinds
