"""The columns and predicates that a plan pushes to the placeholder of a shared subquery.

A subquery that is computed once for several uses is computed for their union: the columns that any of them reads, and
the rows that satisfy the predicates of at least one.

Only predicates that cannot fail for a row are used (comparisons with constants, LIKE, IN, IS NULL): here they see rows
that another predicate of the same use might have removed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from datafusion import DataFrame, Expr, col

from pinakes.core.names import quote
from pinakes.engine.pushdown import predicate as p

if TYPE_CHECKING:
    from pinakes.engine.planning.optimize.shared import Shared
    from pinakes.engine.pushdown.scan_requests import Filter, Scan

_SAFE = (p.ColumnRef, p.Literal, p.Comparison, p.In, p.Like, p.Is, p.And, p.Or, p.Not)


@dataclass(frozen=True, slots=True)
class Demand:
    """All that several uses take together; `names` in the order of the subquery's own columns."""

    names: tuple[str, ...]
    condition: Expr | None
    scan: str
    """The name of the scans in the condition."""

    def of(self, frame: DataFrame) -> DataFrame:
        """That part of the subquery's rows; DataFusion pushes the condition down into it."""
        frame = frame.alias(self.scan)
        if self.condition is not None:
            frame = frame.filter(self.condition)
        return frame.select(*(col(f"{quote(self.scan)}.{quote(name)}") for name in self.names))


def demand(uses: Sequence[Scan], shared: Shared) -> Demand:
    """What the uses take of a subquery."""
    names = shared.schema.names
    every = any(use.columns is None for use in uses)
    wanted = tuple(n for n in names if every or any(n in (use.columns or ()) for use in uses))
    return Demand(wanted or tuple(names[:1]), _any(uses), shared.placeholder.name)


def _any(uses: Sequence[Scan]) -> Expr | None:
    """None when one of them wants all rows. What all of them ask of one column is said apart, too: alone it can go
    further down, below an aggregate that another column comes from."""
    safe = [[f for f in use.filters if _cannot_fail(f.predicate)] for use in uses]
    wanted = list({frozenset(f.predicate for f in use): use for use in safe}.values())
    if not wanted or not all(wanted):
        return None
    whole = _one_of([_all(use) for use in wanted])
    if len(wanted) == 1:
        return whole
    return reduce(lambda a, b: a & b, [*(_one_of(asked) for asked in _by_column(wanted)), whole])


def _by_column(alternatives: Sequence[Sequence[Filter]]) -> Iterator[list[Expr]]:
    """For each column that every alternative has a condition on: those conditions, one of which must hold."""
    asked = [_of_one_column(use) for use in alternatives]
    for name in asked[0]:
        if all(name in use for use in asked):
            yield list({str(e): e for e in (_all(use[name]) for use in asked)}.values())


def _of_one_column(conditions: Sequence[Filter]) -> dict[str, list[Filter]]:
    found: dict[str, list[Filter]] = {}
    for condition in conditions:
        names = {column.name for column in p.columns_in(condition.predicate)}
        if len(names) == 1:
            found.setdefault(names.pop(), []).append(condition)
    return found


def _all(conditions: Sequence[Filter]) -> Expr:
    return reduce(lambda a, b: a & b, (condition.expression for condition in conditions))


def _one_of(conditions: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: a | b, conditions)


def _cannot_fail(e: p.Predicate) -> bool:
    return isinstance(e, _SAFE) and all(map(_cannot_fail, p.operands(e)))
