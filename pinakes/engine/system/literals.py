"""The values of a column in a part of a plan that is made of constants: VALUES, or a UNION of SELECTs without FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.engine.system.conditions import Subject, output_name, text_or_truth, unaliased

if TYPE_CHECKING:
    from datafusion import Expr
    from datafusion.plan import LogicalPlan

MOST = 10_000
"""Values beyond which it is no use."""


def constants_of(plan: LogicalPlan, key: Subject) -> frozenset[str] | None:
    """All values that a column can have there, in the case that is asked for; None when that can't be told."""
    values = _values(plan, key.column)
    if values is None or len(values) > MOST:
        return None
    if not key.fold:
        return values
    if not all(v.isascii() for v in values):
        return None
    return frozenset(v.lower() if key.fold == "lower" else v.upper() for v in values)


def _values(plan: LogicalPlan, column: str) -> frozenset[str] | None:
    """More than there are is as good: a filter or a limit within the part may be overlooked."""
    node = plan.to_variant()
    match type(node).__name__:
        case "SubqueryAlias" | "Filter" | "Limit" | "Sort" | "Distinct" | "Aggregate":
            return _values(plan.inputs()[0], column)
        case "Union":
            return _united([_values(part, column) for part in plan.inputs()])
        case "Projection":
            return _projected(node, plan, column)
        case "Values":
            return _rows(node, column)
    return None


def _united(parts: list[frozenset[str] | None]) -> frozenset[str] | None:
    known = [p for p in parts if p is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None


def _projected(node: Any, plan: LogicalPlan, column: str) -> frozenset[str] | None:
    meant = [unaliased(e) for e in node.projections() if output_name(e) == column]
    if len(meant) != 1:
        return None
    if meant[0].variant_name() == "Column":
        return _values(plan.inputs()[0], meant[0].to_variant().name())
    return _texts(meant)


def _rows(node: Any, column: str) -> frozenset[str] | None:
    """VALUES calls its columns column1, column2, …"""
    number = column.removeprefix("column")
    rows: list[list[Expr]] = node.values()
    if not number.isdigit() or not 1 <= int(number) <= len(rows[0]):
        return None
    return _texts([row[int(number) - 1] for row in rows])


def _texts(constants: list[Expr]) -> frozenset[str] | None:
    """NULL equals nothing, so it is left out; None when something is no constant text."""
    found = set()
    for e in constants:
        if e.variant_name() != "Literal":
            return None
        value = text_or_truth(e)
        if isinstance(value, str):
            found.add(value)
        elif value is not None or e.python_value().as_py() is not None:
            return None
    return frozenset(found)
