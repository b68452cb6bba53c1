"""The columns and predicates that a plan pushes to the placeholder of a shared subquery.

A subquery that is computed once for several uses is computed for their union: the columns that any of them reads, and
the rows that satisfy the predicates of at least one.

Only predicates that cannot fail for a row are used (comparisons with constants, LIKE, IN, IS NULL): here they see rows
that another predicate of the same use might have removed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from datafusion import DataFrame, Expr, SessionContext, col

from pinakes.core.names import quote
from pinakes.engine.datafusion.plan_proto import COLUMNS, FILTERS, Field, fields, nodes_of

SCAN = "?table?"
"""What DataFusion calls the scan in its conditions."""
_COMPARISONS = frozenset({"=", "!=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})


@dataclass(frozen=True, slots=True)
class Use:
    """One scan: the names of the columns that it reads (None: all), its conditions as DataFusion wrote them."""

    columns: frozenset[str] | None = None
    conditions: frozenset[bytes] = frozenset()


def uses_in(plan: bytes, marker: bytes) -> list[Use]:
    """The scans with this marker."""
    return [_use(plan, node) for node in nodes_of(plan, marker)]


def _use(plan: bytes, node: Sequence[Field]) -> Use:
    columns: frozenset[str] | None = None
    conditions = set()
    for field in node:
        if field.number == COLUMNS:
            named = fields(plan, field.value, field.end)
            columns = frozenset(plan[f.value : f.end].decode() for f in named)
        elif field.number == FILTERS:
            conditions.add(plan[field.value : field.end])
    return Use(columns, frozenset(conditions))


@dataclass(frozen=True, slots=True)
class Demand:
    """All that several uses take together; `names` in the order of the subquery's own columns."""

    names: tuple[str, ...]
    condition: Expr | None

    def of(self, frame: DataFrame) -> DataFrame:
        """That part of the subquery's rows; DataFusion pushes the condition down into it."""
        frame = frame.alias(SCAN)
        if self.condition is not None:
            frame = frame.filter(self.condition)
        return frame.select(*(col(f"{quote(SCAN)}.{quote(name)}") for name in self.names))


def demand(uses: Sequence[Use], names: Sequence[str], context: SessionContext) -> Demand:
    """What the uses take of a subquery that has these columns."""
    every = any(use.columns is None for use in uses)
    wanted = tuple(n for n in names if every or any(n in (use.columns or ()) for use in uses))
    return Demand(wanted or tuple(names[:1]), _any({use.conditions for use in uses}, context))


def _any(alternatives: Iterable[frozenset[bytes]], context: SessionContext) -> Expr | None:
    """None when one of them wants all rows. What all of them ask of one column is said apart, too: alone it can go
    further down, below an aggregate that another column comes from."""
    wanted = [[e for c in sorted(use) if _cannot_fail(e := Expr.from_bytes(c, context))] for use in alternatives]
    if not wanted or not all(wanted):
        return None
    whole = _one_of([_all(use) for use in wanted])
    if len(wanted) == 1:
        return whole
    return _all([*(_one_of(asked) for asked in _by_column(wanted)), whole])


def _by_column(alternatives: Sequence[Sequence[Expr]]) -> Iterator[list[Expr]]:
    """For each column that every alternative has a condition on: those conditions, one of which must hold."""
    asked = [_of_one_column(use) for use in alternatives]
    for name in asked[0]:
        if all(name in use for use in asked):
            yield list({str(e): e for e in (_all(use[name]) for use in asked)}.values())


def _of_one_column(conditions: Sequence[Expr]) -> dict[str, list[Expr]]:
    found: dict[str, list[Expr]] = {}
    for e in conditions:
        names = _columns(e)
        if len(names) == 1:
            found.setdefault(names.pop(), []).append(e)
    return found


def _columns(e: Expr) -> set[str]:
    match e.variant_name():
        case "Column":
            return {str(e)}
        case "Literal":
            return set()
    return set().union(*map(_columns, e.rex_call_operands()))


def _all(conditions: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: a & b, conditions)


def _one_of(conditions: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: a | b, conditions)


def _cannot_fail(e: Expr) -> bool:
    match e.variant_name():
        case "Column" | "Literal":
            return True
        case "BinaryExpr":
            known = e.rex_call_operator() in _COMPARISONS or e.rex_call_operator() in ("AND", "OR")
            return known and all(map(_cannot_fail, e.rex_call_operands()))
        case "InList" | "IsNull" | "IsNotNull" | "Like" | "Not" | "Between":
            return all(map(_cannot_fail, e.rex_call_operands()))
    return False
