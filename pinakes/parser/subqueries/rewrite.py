"""Rewrites the subqueries of a planned text that DataFusion 55 can't plan, one at a time from the outermost on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pinakes.core.errors import NotSupportedError
from pinakes.parser.faults import Fault
from pinakes.parser.subqueries.grouped import split_grouped
from pinakes.parser.subqueries.joins import Edit, Joiner
from pinakes.parser.subqueries.names import Columns, Place, Resolved, Scope, columns_in
from pinakes.parser.subqueries.spread import Unsupported, has_one_row
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.reader import Unread, read
from pinakes.parser.workarounds.constant_filters import aggregates, conjuncts
from pinakes.parser.workarounds.writing import Written, all_below, bare, within_query
from pinakes.parser.wrong_results import CAPTURED, LOST_NULLS

_QUERY = re.compile(r"\(\s*(?:SELECT|WITH|FROM|TABLE|VALUES)\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:(?:ANALYZE|VERBOSE|FORMAT\s+\w+)\s+)*", re.IGNORECASE)
_MOST = 40
"""Subqueries of one text."""
_MOST_PLACES = 100
"""Subqueries of which one may be in the other: each is searched for outer columns."""
_LONGEST = 400_000
"""Characters of all steps: the sources of an outer query are repeated for each subquery, and for those in it again."""


def may_have_subqueries(text: str) -> bool:
    return _QUERY.search(text) is not None


def rewrite_subqueries(
    text: str, columns: Columns, is_stable: Callable[[tuple[str, ...]], bool], *, everything: bool = False
) -> list[Written] | None:
    """Returns the steps to the text that is planned; none if there is nothing to rewrite, and None if the text can't be
    read here. With `everything`, also subqueries are rewritten that DataFusion can plan in most cases.
    """
    explained = _EXPLAIN.match(text)
    before = text[: explained.end()] if explained else ""
    current, steps, total = text[len(before) :], list[Written](), len(text)
    try:
        while len(steps) < _MOST and total < _LONGEST:
            edits = _next(current, columns, is_stable, everything, len(steps) + 1)
            if edits is None:
                return steps
            written = _applied(current, edits)
            steps.append(written.behind(before) if before else written)
            current = written.text
            total += len(current)
    except (Unread, Fault, RecursionError):
        pass
    return None


def _next(
    text: str, columns: Columns, is_stable: Callable[[tuple[str, ...]], bool], everything: bool, number: int
) -> list[Edit] | None:
    """Returns the changes of one more step; None if there is none."""
    if not may_have_subqueries(text):
        return None
    root = read(text)
    if not any(map(_is_concerned, all_below(root))):
        return None
    resolved = Resolved(root, columns)
    if len(resolved.places) > _MOST_PLACES:
        raise Unread
    plans = _Plans(text, resolved, everything)
    for place in resolved.places:
        if plans.is_plannable(place):
            continue
        try:
            grouped = split_grouped(text, resolved, place, number)
            return grouped or Joiner(text, resolved, number, is_stable).edits(place)
        except Unsupported:
            continue
    for place in resolved.places:
        plans.refuse_wrong(place)
    return None


def _is_concerned(node: n.Node) -> bool:
    """Returns whether a node is a subquery that may refer to the outer query."""
    if isinstance(node, n.Derived):
        return node.query.start > node.start + 1
    return isinstance(node, n.Scalar | n.Exists | n.InQuery) or (
        isinstance(node, n.Quantified) and isinstance(node.query, n.Query)
    )


def _applied(text: str, edits: Sequence[Edit]) -> Written:
    pieces, places, at, length = list[str](), list[tuple[int, int]](), 0, 0
    for start, end, new in sorted(edits):
        if start < at:
            raise Unread
        places.append((length, at))
        pieces += (text[at:start], new)
        length += start - at + len(new)
        at = end
    places.append((length, at))
    pieces.append(text[at:])
    return Written("".join(pieces), text, tuple(places))


class _Plans:
    """The subqueries that DataFusion plans by itself."""

    def __init__(self, text: str, resolved: Resolved, everything: bool) -> None:
        self._text, self._resolved, self._everything = text, resolved, everything
        self._by_node = {id(place.node): place for place in resolved.places}
        self._known = dict[int, bool]()

    def is_plannable(self, place: Place) -> bool:
        if id(place) not in self._known:
            self._known[id(place)] = self._is_plannable(place)
        return self._known[id(place)]

    def _is_plannable(self, place: Place) -> bool:
        node, query = place.node, place.inner
        outer = set(map(id, self._resolved.free(query)))
        if not outer:
            is_value = isinstance(node, n.Scalar) and not place.is_aggregated
            return place.clause == "from" or is_value or self._is_condition(place)
        if self._everything or not self._resolved.is_known(query):
            return not self._everything
        nested = [self._by_node[id(part)] for part in all_below(query) if id(part) in self._by_node]
        if not all(map(self.is_plannable, nested)):
            return False
        body = query.body
        if not isinstance(body, n.Select) or query.defined or body.distinct_on or body.qualify is not None:
            return False
        calls = [part for item in body.items for part in within_query(item) if isinstance(part, n.Call)]
        if any(call.over for call in calls) or body.where is None:
            return False
        inside = {id(part) for part in within_query(body.where)}
        if not outer <= inside:
            return False
        equal = all(_is_equal(part, outer) for part in conjuncts(body.where))
        if isinstance(node, n.Scalar):
            is_plain = has_one_row(body) and body.having is None and not body.distinct and not query.tail
            places = place.clause in ("item", "where") and not place.is_aggregated
            grouped = place.select.groups or has_one_row(place.select)
            return equal and is_plain and places and (place.clause == "where" or not grouped)
        if isinstance(node, n.Derived):
            return self._is_lateral_plannable(place, equal=equal)
        if not self._is_condition(place):
            return False
        if query.order:
            return False
        if isinstance(node, n.Exists):
            single = has_one_row(body)
            is_count = equal and body.having is None and len(body.items) == 1 and not query.tail
            return (equal or not body.groups) and (not single or is_count) and len(query.tail) < 2
        if self._words(place).startswith("NOT"):
            return False  # DataFusion would take NULL for another value
        return not (query.tail or has_one_row(body) or ((body.groups or body.distinct) and not equal))

    def _is_lateral_plannable(self, place: Place, *, equal: bool) -> bool:
        query, body = place.inner, place.inner.body
        assert isinstance(body, n.Select)
        joins = [part for source in place.select.sources for part in all_below(source) if isinstance(part, n.Join)]
        if any(join.right is place.node and "LEFT" in join.kind for join in joins) or query.tail or body.having:
            return False
        return equal or not (body.groups or body.distinct or any(map(aggregates, body.items)))

    def _is_condition(self, place: Place) -> bool:
        """Returns whether EXISTS or IN stands where NULL and false are the same, and DataFusion makes a join of it."""
        if place.clause not in ("where", "having"):
            return False
        if isinstance(place.node, n.Quantified) and (place.clause != "where" or self._captures(place)):
            return False
        if isinstance(place.node, n.Exists):
            return True
        negated = self._is_not_in(place)
        operators = [part for part in place.path[:-1] if not isinstance(part, n.Paren)]
        if isinstance(place.node, n.Quantified):
            negated = "ALL" in self._words(place)
        kinds = [part.operator if isinstance(part, n.Unary | n.Binary) else "" for part in operators]
        body = place.inner.body
        if any(kind != "AND" for kind in kinds) and not (isinstance(body, n.Select) and not body.distinct):
            return False  # DataFusion would select its column twice
        if not negated and "NOT" not in kinds:
            return all(kind in ("AND", "OR") for kind in kinds)
        while kinds and kinds[-1] == "NOT":
            kinds.pop()
        return all(kind == "AND" for kind in kinds)

    def refuse_wrong(self, place: Place) -> None:
        """Raises an error if a comparison that was not rewritten would be answered wrongly."""
        if isinstance(place.node, n.InQuery) and not isinstance(place.node.operand, n.Row):
            if not self._is_condition(place):
                raise NotSupportedError(LOST_NULLS)
        elif isinstance(place.node, n.Quantified) and not self._is_condition(place):
            raise NotSupportedError(CAPTURED.format("ALL" if "ALL" in self._words(place) else "ANY"))

    def _captures(self, place: Place) -> bool:
        """Returns whether the compared column of ANY or ALL would be looked up within the subquery: sources outside
        and within have the same name, or none.
        """
        inner = {source.names[-1] for scope in self._resolved.scopes(place.inner) for source in scope.sources}
        outer = set[str]()
        scope: Scope | None = place.scope
        while scope is not None:
            outer |= {source.names[-1] for source in scope.sources}
            scope = scope.parent
        return not inner.isdisjoint(outer) or "" in inner | outer

    def _is_not_in(self, place: Place) -> bool:
        assert isinstance(place.node, n.InQuery | n.Quantified)
        return self._words(place).startswith("NOT")

    def _words(self, place: Place) -> str:
        assert isinstance(place.node, n.InQuery | n.Quantified)
        return self._text[place.node.operand.end : place.inner.start].strip().upper()


def _is_equal(condition: n.Node, outer: set[int]) -> bool:
    """Returns whether a condition has no outer columns, or compares one with `=`."""
    condition = bare(condition)
    ids = [id(column) for column in columns_in(condition)]
    if outer.isdisjoint(ids):
        return True
    if not isinstance(condition, n.Binary):
        return False
    if condition.operator == "OR":
        return _has_common(condition, outer)
    if condition.operator not in ("=", "=="):
        return False
    sides = [[id(column) in outer for column in columns_in(side)] for side in (condition.left, condition.right)]
    return any(all(one) and one and other and not any(other) for one, other in (sides, sides[::-1]))


def _has_common(condition: n.Node, outer: set[int]) -> bool:
    """(a.k = t.k AND …) OR (a.k = t.k AND …): DataFusion takes the common condition out."""
    condition = bare(condition)
    if isinstance(condition, n.Binary) and condition.operator == "OR":
        return _has_common(condition.left, outer) and _has_common(condition.right, outer)
    return all(_is_equal(part, outer) for part in conjuncts(condition)) and any(
        not outer.isdisjoint(map(id, columns_in(part))) for part in conjuncts(condition)
    )
