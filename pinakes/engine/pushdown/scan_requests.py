"""What an optimised plan asks of each placeholder scan: columns, a predicate, and the number of rows that is enough.

The plan is walked from the top, where limits and joins are, down to the scans, which hold the pushed predicates. The
walk does not visit subqueries within expressions: when a scan is missing, the columns and predicates of all scans of
that placeholder are read from the serialised plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from datafusion import Expr

from pinakes.engine.datafusion.plan_proto import COLUMNS, FILTERS, Field, fields, nodes_of
from pinakes.engine.pushdown import predicate as p
from pinakes.engine.pushdown.expressions import named, read
from pinakes.engine.pushdown.join_values import constants_of, subject

if TYPE_CHECKING:
    from datafusion import SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.pushdown.placeholder_scan import Placeholder


class Filter(NamedTuple):
    predicate: p.Predicate
    expression: Expr
    """The same for DataFusion, which applies it to the rows of a shared subquery."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What one scan of a placeholder asks."""

    columns: frozenset[str] | None
    """None for all columns."""
    filters: tuple[Filter, ...]
    implied: tuple[p.Predicate, ...] = ()
    """What joins with constants imply: rows for which these are not true have no match."""
    limit: int | None = None

    @property
    def predicate(self) -> p.Predicate:
        return p.all_of((*(f.predicate for f in self.filters), *self.implied))


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What a plan asks of a placeholder: the rows that any of its scans needs."""

    scans: tuple[Scan, ...] | None
    """None if they are not known; empty if the plan does not read the placeholder."""
    is_explained: bool = False
    """The plan is not run."""

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns that are read; None for all."""
        found = None if self.scans is None else [scan.columns for scan in self.scans]
        return None if found is None or None in found else frozenset().union(*(c for c in found if c is not None))

    @property
    def predicate(self) -> p.Predicate:
        """A predicate that is true for every row that is needed."""
        return p.TRUE if self.scans is None else p.any_of(scan.predicate for scan in self.scans)

    def limit(self, *, is_exact: bool) -> int | None:
        """Returns the number of rows that is enough; None if there is none. Only rows for which the predicate is true
        count, so a source that does not evaluate it exactly has no limit.
        """
        if self.scans is None:
            return None
        if self.is_explained or not self.scans:
            return 0
        return self.scans[0].limit if is_exact and len(self.scans) == 1 else None


def scan_requests(
    optimized: LogicalPlan, placeholders: Iterable[Placeholder], context: SessionContext
) -> dict[Placeholder, ScanRequest]:
    placeholders = list(placeholders)
    if not placeholders:
        return {}
    text = optimized.display_indent()
    has_constants = "Values:" in text or "EmptyRelation:" in text
    walked = _walked(optimized, (one.name for one in placeholders), has_constants=has_constants)
    missing = {one for one in placeholders if len(walked[one.name]) != text.count(one.shown)}
    whole = serialized(optimized, context) if missing else None
    requests = {}
    for one in placeholders:
        scans: Iterable[Scan] | None = walked[one.name]
        if one in missing:
            scans = None if whole is None else _serialized_scans(whole, one, context)
        requests[one] = ScanRequest(None if scans is None else tuple(scans), text.startswith("Explain"))
    return requests


def together(requests: Iterable[ScanRequest]) -> ScanRequest:
    """Returns what several plans ask of a placeholder."""
    known = [request.scans for request in requests]
    return ScanRequest(None if None in known else tuple(scan for scans in known for scan in scans or ()))


# --- the walk of the plan --------------------------------------------------------------------------------------------


class _Above(NamedTuple):
    """Constraints that the nodes above put on the rows of a node."""

    limit: int | None = None
    joined: tuple[p.In, ...] = ()
    """The values that a column must have: rows with other values have no match in a join."""


_NOTHING_SAID = _Above()


def _walked(plan: LogicalPlan, names: Iterable[str], *, has_constants: bool) -> dict[str, list[Scan]]:
    """Returns the scans of each placeholder. `has_constants`: the plan has rows of constants, which may restrict what
    they are joined with.
    """
    found: dict[str, list[Scan]] = {name: [] for name in names}
    waiting = [(plan, _NOTHING_SAID)]
    while waiting:
        plan, above = waiting.pop()
        node = plan.to_variant()
        match type(node).__name__:
            case "TableScan":
                if node.table_name() in found:
                    found[node.table_name()].append(_scan(node, above))
                continue
            case "Join" if has_constants:
                waiting += _join(node, above)
                continue
            case "Limit":
                above = _Above(_rows_of(node, above.limit))
            case "Filter":
                if above.limit is not None and not _is_the_scans_own(node, plan):
                    above = above._replace(limit=None)
            case "Projection":
                above = above._replace(joined=_through(above.joined, node.projections()) if above.joined else ())
            case "SubqueryAlias" | "Explain" | "Analyze":
                pass
            case _:
                above = _NOTHING_SAID
        waiting += [(below, above) for below in reversed(plan.inputs())]
    return found


def _scan(node: Any, above: _Above) -> Scan:
    limits = [n for n in (above.limit, node.fetch()) if n is not None]
    return Scan(
        frozenset(column for _, column in node.projection()),
        tuple(Filter(read(e), Expr(e)) for e in node.filters()),
        above.joined,
        min(limits) if limits else None,
    )


def _is_the_scans_own(node: Any, plan: LogicalPlan) -> bool:
    """Whether a filter is directly above a scan, which has the same predicates. A limit above any other filter can't be
    pushed down: the scan would count rows that the filter removes.
    """
    below = plan.inputs()[0].to_variant()
    if type(below).__name__ != "TableScan":
        return False
    pushed = {read(e) for e in below.filters()}
    return pushed.issuperset(p.conjuncts(read(node.predicate())))


def _rows_of(node: Any, limit: int | None) -> int | None:
    """Returns the number of rows that a LIMIT needs from its input; None if it is not a constant number."""
    skip, fetch = _count(node.skip()), _count(node.fetch())
    if fetch is None:
        return None
    return (skip or 0) + (fetch if limit is None else min(fetch, limit))


def _count(e: Expr | None) -> int | None:
    found = None if e is None else read(e)
    number = found.value.as_py() if isinstance(found, p.Literal) else None
    return number if isinstance(number, int) else None


def _through(joined: Iterable[p.In], projections: Sequence[Expr]) -> tuple[p.In, ...]:
    """Returns the join constraints in terms of the input columns of a projection, for the columns that pass
    through it.
    """
    items = [named(e) for e in projections]
    names = [name for name, _ in items]
    below = {n: e for n, e in items if isinstance(e, p.ColumnRef) and names.count(n) == 1}
    moved = ((_moved(one.tested, below), one.values) for one in joined)
    return tuple(p.In(tested, values) for tested, values in moved if tested is not None)


def _moved(tested: p.Predicate, below: Mapping[str, p.ColumnRef]) -> p.Predicate | None:
    match tested:
        case p.ColumnRef(name, ()):
            return below.get(name)
        case p.Cast(argument) if (inner := _moved(argument, below)) is not None:
            return replace(tested, argument=inner)
        case p.Call(_, (argument,)) if (inner := _moved(argument, below)) is not None:
            return replace(tested, arguments=(inner,))
    return None


def _join(node: Any, above: _Above) -> Iterable[tuple[LogicalPlan, _Above]]:
    """Returns both inputs of a join, the left one last. A side that consists of constants restricts the other side if
    rows without a match are dropped, unless NULL matches NULL, which no list contains. Constraints from above apply to
    the output side of a semi-join or anti-join.
    """
    kind, is_plain = str(node.join_type()), not node.null_equals_null()
    lost_left = is_plain and kind in ("Inner", "LeftSemi", "Right")
    lost_right = is_plain and kind in ("Inner", "RightSemi", "Left")
    turned = [(there, here) for here, there in node.on()]
    left = _keys(node.on(), node.right()) if lost_left else ()
    right = _keys(turned, node.left()) if lost_right else ()
    if kind in ("LeftSemi", "LeftAnti"):
        left = (*left, *above.joined)
    if kind in ("RightSemi", "RightAnti"):
        right = (*right, *above.joined)
    return (node.right(), _Above(joined=right)), (node.left(), _Above(joined=left))


def _keys(on: Iterable[tuple[Expr, Expr]], other: LogicalPlan) -> tuple[p.In, ...]:
    found = []
    for here, there in on:
        tested, key = read(here), subject(read(there))
        values = constants_of(other, key) if key is not None and subject(tested) is not None else None
        if values is not None:
            found.append(p.In(tested, tuple(p.Literal(pa.scalar(value)) for value in sorted(values))))
    return tuple(found)


# --- the serialised plan ---------------------------------------------------------------------------------------------


def serialized(plan: LogicalPlan, context: SessionContext) -> bytes | None:
    """Returns None for a plan that DataFusion can't serialise, such as one that reads rows in memory."""
    try:
        return bytes(plan.to_bytes(context))
    except Exception:  # noqa: BLE001 - DataFusion has no narrower one
        return None


def _serialized_scans(plan: bytes, placeholder: Placeholder, context: SessionContext) -> Iterable[Scan]:
    for scan in nodes_of(plan, placeholder.path):
        pushed = [Expr.from_bytes(plan[f.value : f.end], context) for f in scan if f.number == FILTERS]
        yield Scan(_columns(plan, scan), tuple(Filter(read(e), e) for e in pushed))


def _columns(plan: bytes, scan: Sequence[Field]) -> frozenset[str] | None:
    projections = [plan[f.value : f.end] for f in scan if f.number == COLUMNS]
    found = frozenset(p[f.value : f.end].decode() for p in projections for f in fields(p, 0, len(p)))
    return found if projections else None
