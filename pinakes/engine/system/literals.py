"""Extracts the values of a column from a subplan made of constants: VALUES, or a UNION of SELECTs without FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.engine.system.conditions import Subject, output_name, text_or_truth, unaliased

if TYPE_CHECKING:
    from datafusion import Expr
    from datafusion.plan import LogicalPlan

MOST = 10_000
"""The maximum number of values; more are not pushed down."""


def constants_of(plan: LogicalPlan, key: Subject) -> frozenset[str] | None:
    """Returns all values that a column can have there, folded to the key's case; None if they are not known."""
    values = _values(plan, key.column)
    if values is None or len(values) > MOST:
        return None
    if not key.fold:
        return values
    if not all(v.isascii() for v in values):
        return None
    return frozenset(v.lower() if key.fold == "lower" else v.upper() for v in values)


def _values(plan: LogicalPlan, column: str) -> frozenset[str] | None:
    """Returns a superset of the values: filters and limits within the subplan are ignored."""
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
    """Returns the values of a column of VALUES, whose columns are named column1, column2, …"""
    number = column.removeprefix("column")
    rows: list[list[Expr]] = node.values()
    if not number.isdigit() or not 1 <= int(number) <= len(rows[0]):
        return None
    return _texts([row[int(number) - 1] for row in rows])


def _texts(constants: list[Expr]) -> frozenset[str] | None:
    """Returns the constants without NULLs, which equal nothing; None if one of them is not a string constant."""
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
