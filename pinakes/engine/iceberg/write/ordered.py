"""The order that a query's own ORDER BY gives its rows, kept on the way into files.

DataFusion leaves ORDER BY out within a subquery, where SQL gives it no meaning, unless LIMIT or OFFSET depend on it. A
query that is wrapped, to bring its rows into the shape of a table, is therefore given an OFFSET of nothing.
"""

from __future__ import annotations

from datafusion import DataFrame
from datafusion.plan import LogicalPlan

_ABOVE = ("Projection", "Limit")
"""What may stand over the ORDER BY of the same query: a column that only it names is taken away again."""


def is_ordered(frame: DataFrame) -> bool:
    """Whether the outermost clause of the query is ORDER BY, LIMIT and OFFSET aside."""
    return _kinds(frame)[-1] == "Sort"


def wrapped(text: str, frame: DataFrame) -> str:
    """The query as it stands in a FROM clause, in its order if it has one. It begins on a line of its own."""
    kinds = _kinds(frame)
    needed = kinds[-1] == "Sort" and "Limit" not in kinds
    return f"(\n{text}\n{'OFFSET 0' if needed else ''})"


def _kinds(frame: DataFrame) -> list[str]:
    """What the plan is from the top down, as far as the ORDER BY, if there is one."""
    plan: LogicalPlan = frame.logical_plan()
    kinds = [type(plan.to_variant()).__name__]
    while kinds[-1] in _ABOVE:
        plan = plan.inputs()[0]
        kinds.append(type(plan.to_variant()).__name__)
    return kinds
