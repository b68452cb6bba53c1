"""The pushdown of an optimised plan into a system table: columns, predicate and limit.

The plan is walked from the top, where limits and joins are, down to each scan of the table's placeholder, which holds
the pushed-down predicates. The walk does not visit scalar subqueries: when a scan is missing, the predicates and
columns of all scans are read from the serialised plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pinakes.engine.datafusion.plan_proto import COLUMNS, FILTERS, Field, fields, nodes_of
from pinakes.engine.pushdown.scan_pushdown import serialized
from pinakes.engine.system.conditions import Levels, Subject, output_name, read, read_all, subject, unaliased
from pinakes.engine.system.literals import constants_of
from pinakes.system_tables.combined import both, either
from pinakes.system_tables.conditions import ANYTHING, Condition, OneOf

if TYPE_CHECKING:
    from datafusion import Expr, SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.pushdown.placeholder_scan import Shadow


class Asked(NamedTuple):
    columns: frozenset[str] | None
    """None for all columns."""
    wanted: Condition
    limit: int | None


EVERYTHING = Asked(None, ANYTHING, None)
NOTHING = Asked(frozenset(), ANYTHING, 0)


@dataclass(frozen=True, slots=True)
class _Above:
    """Constraints that the nodes above put on the rows of a node."""

    limit: int | None = None
    joined: tuple[tuple[Subject, frozenset[str]], ...] = ()
    """The values that a column must have: rows with other values have no match in a join."""


_NOTHING_SAID = _Above()


def asked_of(plan: LogicalPlan, shadow: Shadow, levels: Levels, context: SessionContext) -> Asked:
    """Returns the combined pushdown of all scans of one table."""
    if plan.to_variant().__class__.__name__ == "Explain":
        return NOTHING
    found = list(_walk(plan, shadow.name, levels, _NOTHING_SAID))
    there = plan.display_indent().count(shadow.shown)
    if found and len(found) == there:
        return _together(found)
    whole = serialized(plan, context)
    if whole is None:
        return EVERYTHING if there else NOTHING
    return _together([_serialized(whole, scan, levels, context) for scan in nodes_of(whole, shadow.marker)])


def _together(asked: Sequence[Asked]) -> Asked:
    """Returns a pushdown that satisfies all scans; nothing is read for a table that is no longer in the plan."""
    if not asked:
        return NOTHING
    columns = [a.columns for a in asked]
    known = [c for c in columns if c is not None]
    every = frozenset().union(*known) if len(known) == len(columns) else None
    limit = asked[0].limit if len(asked) == 1 else None
    return Asked(every, either(*(a.wanted for a in asked)), limit)


# --- the walk of the plan --------------------------------------------------------------------------------------------


def _walk(plan: LogicalPlan, name: str, levels: Levels, above: _Above) -> Iterable[Asked]:
    node = plan.to_variant()
    match type(node).__name__:
        case "TableScan":
            return [_scan(node, levels, above)] if node.table_name() == name else []
        case "Limit":
            above = _Above(_rows_of(node, above.limit))
        case "Filter":
            if not _is_the_scans_own(plan, levels):
                above = replace(above, limit=None)
        case "Projection":
            above = replace(above, joined=_through(above.joined, node.projections()))
        case "SubqueryAlias" | "Explain" | "Analyze":
            pass
        case "Join":
            return _join(node, name, levels, above)
        case _:
            above = _NOTHING_SAID
    return [asked for below in plan.inputs() for asked in _walk(below, name, levels, above)]


def _is_the_scans_own(plan: LogicalPlan, levels: Levels) -> bool:
    """Whether a filter is directly above a scan and converts completely. A limit above any other filter can't be pushed
    down: the scan would count rows that the filter removes.
    """
    (below,) = plan.inputs()
    return type(below.to_variant()).__name__ == "TableScan" and read(plan.to_variant().predicate(), levels).complete


def _scan(node: Any, levels: Levels, above: _Above) -> Asked:
    said = read_all(node.filters(), levels)
    joined = [OneOf(levels[s.column], values, s.fold) for s, values in above.joined if s.column in levels]
    columns = frozenset(column for _, column in node.projection())
    limits = [n for n in (above.limit, node.fetch()) if n is not None]
    return Asked(columns, both(said.condition, *joined), min(limits) if limits and said.complete else None)


def _rows_of(node: Any, limit: int | None) -> int | None:
    """Returns the number of rows that a LIMIT needs from its input; None if it is not a constant number."""
    skip, fetch = _count(node.skip()), _count(node.fetch())
    if fetch is None:
        return None
    return (skip or 0) + (fetch if limit is None else min(fetch, limit))


def _count(e: Expr | None) -> int | None:
    if e is None or e.variant_name() != "Literal":
        return None
    value = e.python_value()
    number = value.as_py() if hasattr(value, "as_py") else value
    return number if isinstance(number, int) else None


def _through(
    joined: Sequence[tuple[Subject, frozenset[str]]], projections: Sequence[Expr]
) -> tuple[tuple[Subject, frozenset[str]], ...]:
    """Returns the join constraints in terms of the input columns of a projection, for the columns that pass
    through it.
    """
    below: dict[str, str] = {}
    names = [output_name(e) for e in projections]
    for e, name in zip(projections, names, strict=True):
        inner = unaliased(e)
        if inner.variant_name() == "Column" and names.count(name) == 1:
            below[name] = inner.to_variant().name()
    return tuple((Subject(below[s.column], s.fold), values) for s, values in joined if s.column in below)


def _join(node: Any, name: str, levels: Levels, above: _Above) -> Iterable[Asked]:
    """Walks both inputs of a join. A side that consists of constants restricts the other side if rows without a match
    are dropped, unless NULL matches NULL, which no list contains. Constraints from above apply to the output side of a
    semi-join or anti-join.
    """
    kind, is_plain = str(node.join_type()), not node.null_equals_null()
    lost_left = is_plain and kind in ("Inner", "LeftSemi", "Right")
    lost_right = is_plain and kind in ("Inner", "RightSemi", "Left")
    turned = [(there, here) for here, there in node.on()]
    left = _Above(joined=_keys(node.on(), node.right()) if lost_left else ())
    right = _Above(joined=_keys(turned, node.left()) if lost_right else ())
    if kind in ("LeftSemi", "LeftAnti"):
        left = _Above(joined=(*left.joined, *above.joined))
    if kind in ("RightSemi", "RightAnti"):
        right = _Above(joined=(*right.joined, *above.joined))
    return [*_walk(node.left(), name, levels, left), *_walk(node.right(), name, levels, right)]


def _keys(on: Iterable[tuple[Expr, Expr]], other: LogicalPlan) -> tuple[tuple[Subject, frozenset[str]], ...]:
    found = []
    for here, there in on:
        about, key = subject(here), subject(there)
        values = constants_of(other, key) if about is not None and key is not None else None
        if about is not None and values is not None:
            found.append((about, values))
    return tuple(found)


# --- the serialised plan ---------------------------------------------------------------------------------------------


def _serialized(plan: bytes, scan: Sequence[Field], levels: Levels, context: SessionContext) -> Asked:
    """Returns the pushdown of one scan, wherever it is in the plan."""
    from datafusion import Expr

    conditions = [Expr.from_bytes(plan[f.value : f.end], context) for f in scan if f.number == FILTERS]
    projections = [plan[f.value : f.end] for f in scan if f.number == COLUMNS]
    columns = frozenset(p[f.value : f.end].decode() for p in projections for f in fields(p, 0, len(p)))
    return Asked(columns if projections else None, read_all(conditions, levels).condition, None)
