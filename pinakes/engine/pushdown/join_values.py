"""The values that a join key can have, where one side of the join consists of constants: VALUES, or a UNION of SELECTs
without FROM.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from typing import Literal as OneOf

from pinakes.engine.pushdown.expressions import named, read
from pinakes.engine.pushdown.predicate import Call, Cast, ColumnRef, Literal, Predicate

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

MOST = 10_000
"""The maximum number of values; more are not pushed down."""
TEXT_TYPES = ("Utf8", "Utf8View", "LargeUtf8")
"""The string types in DataFusion's form. A cast between them changes the layout only."""
_FOLDS: dict[str, OneOf["lower", "upper"]] = {"lower": "lower", "upper": "upper"}


class Subject(NamedTuple):
    """A column, optionally folded to lower or upper case."""

    column: str
    fold: OneOf["", "lower", "upper"] = ""


def subject(e: Predicate) -> Subject | None:
    """Returns the column of strings that an expression refers to; None for any other expression."""
    match e:
        case ColumnRef(name, ()):
            return Subject(name)
        case Cast(argument, type_name) if type_name in TEXT_TYPES:
            return subject(argument)
        case Call(function, (argument,)) if function in _FOLDS:
            inner = subject(argument)
            return Subject(inner.column, _FOLDS[function]) if inner is not None and not inner.fold else None
    return None


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
    node: Any = plan.to_variant()
    match type(node).__name__:
        case "SubqueryAlias" | "Filter" | "Limit" | "Sort" | "Distinct" | "Aggregate":
            return _values(plan.inputs()[0], column)
        case "Union":
            parts = [_values(part, column) for part in plan.inputs()]
            known = [part for part in parts if part is not None]
            return frozenset().union(*known) if len(known) == len(parts) else None
        case "Projection":
            meant = [e for name, e in map(named, node.projections()) if name == column]
            if len(meant) == 1 and isinstance(meant[0], ColumnRef) and not meant[0].path:
                return _values(plan.inputs()[0], meant[0].name)
            return _texts(meant) if len(meant) == 1 else None
        case "Values":  # their columns are named column1, column2, …
            rows, number = node.values(), column.removeprefix("column")
            if number.isdigit() and 1 <= int(number) <= len(rows[0]):
                return _texts(read(row[int(number) - 1]) for row in rows)
    return None


def _texts(constants: Iterable[Predicate]) -> frozenset[str] | None:
    """Returns the constants without NULLs, which equal nothing; None if one of them is not a string constant."""
    found = set()
    for e in constants:
        value = e.value.as_py() if isinstance(e, Literal) else 0
        if isinstance(value, str):
            found.add(value)
        elif value is not None:
            return None
    return frozenset(found)
