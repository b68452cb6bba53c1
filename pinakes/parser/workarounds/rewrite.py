"""Applies all workarounds to one planned text. Most texts need none, and are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pinakes.core.names import quote
from pinakes.parser.faults import Fault
from pinakes.parser.functions.catalog import UNTYPED
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.reader import Unread, read
from pinakes.parser.workarounds.array_any import rewrite_any
from pinakes.parser.workarounds.constant_filters import AGGREGATES, guard, keep_above
from pinakes.parser.workarounds.constant_sums import count_rows
from pinakes.parser.workarounds.exists_items import select_nothing
from pinakes.parser.workarounds.grouped_constants import hide_constants
from pinakes.parser.workarounds.grouped_rows import flatten_groups
from pinakes.parser.workarounds.guarded_operands import MAY_FAIL, MAY_FAIL_BELOW, guard_join, guard_order, guard_select
from pinakes.parser.workarounds.in_lists import Floats, write_out_lists
from pinakes.parser.workarounds.ordered_distincts import DISTINCT, refuse_reversed
from pinakes.parser.workarounds.row_values import write_out_rows
from pinakes.parser.workarounds.scalar_subqueries import may_be_null
from pinakes.parser.workarounds.writing import Changes, Template, Written, all_below, bare, parts_of

_CONCERNED = re.compile(
    r"\bHAVING\b|\bEXISTS\b|\b(?:ANY|SOME)\s*\(|\bROLLUP\b|\bCUBE\b|\bGROUPING\b"
    r"|\bIN\s*\((?!\s*SELECT\b)"
    r"|\)\s*(?:[=<>!]|IS\b|NOT\b|IN\b|BETWEEN\b)|(?:[=<>]|\bBETWEEN|\bCASE)\s*(?:ROW\s*)?\(|\bGROUP\s+BY\b[^)]*\(",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:(?:ANALYZE|VERBOSE|FORMAT\s+\w+)\s+)*", re.IGNORECASE)
_QUERY = re.compile(r"\(\s*(?:SELECT|WITH|FROM|TABLE)\b|(?<!FROM )\(\s*VALUES\b", re.IGNORECASE)
_ROWS = re.compile(r"FROM \(\s*VALUES\b", re.IGNORECASE)
"""Rows in FROM, which only matter for aggregates over them."""
_AGGREGATE = re.compile(rf"\b(?:{'|'.join(sorted(AGGREGATES))})\s*\(", re.IGNORECASE)
_LOOP = re.compile(r"\bFOR\b", re.IGNORECASE)
_CALL = re.compile(r"\b([A-Za-z_]\w*)\"?\s*\(")
_LEAVES = frozenset({n.Column, n.Number, n.Text, n.Null, n.Boolean, n.Parameter, n.Star, n.Item, n.Paren, n.Table})
"""Nodes that need no workaround."""


def rewrite_planned(text: str, *, is_source: bool, reads_views: bool, floats: Floats) -> Written | None:
    """Returns the text for DataFusion. `is_source` is whether other queries read its rows, as for a view,
    `reads_views` whether it reads such, `floats` returns the columns whose types may have -0.0. None if it may
    need a workaround and can't be parsed here.
    """
    aggregates = is_source or reads_views or _ROWS.search(text)
    concerned = (
        _CONCERNED.search(text)
        or _QUERY.search(text)
        or MAY_FAIL.search(text)
        or DISTINCT.search(text)
        or _LOOP.search(text)
    )
    is_read = (aggregates and _AGGREGATE.search(text)) or (is_source and MAY_FAIL_BELOW.search(text))
    if not (concerned or is_read) and UNTYPED.keys().isdisjoint(map(str.lower, _CALL.findall(text))):
        return Written(text, text)
    explained = _EXPLAIN.match(text)
    start = explained.end() if explained else 0
    try:
        root = read(text[start:])
    except (Unread, Fault, RecursionError):
        return None
    try:
        written = _rewrite(root, text[start:], is_source=is_source, reads_views=reads_views, floats=floats)
    except RecursionError:  # a chain of many operators is as deep as it is long
        return None
    return written.behind(text[:start]) if start else written


def _rewrite(root: n.Query, text: str, *, is_source: bool, reads_views: bool, floats: Floats) -> Written:
    changes = Changes(text)
    nodes = [node for node in all_below(root) if type(node) not in _LEAVES]
    conditions = {id(node) for node in _conditions(nodes)}
    defined = {query.name: query.query for query in nodes if isinstance(query, n.Defined)}
    outermost = set(map(id, _outermost(root.body)))
    several = len([node for node in nodes if isinstance(node, n.InList)]) > 1
    for node in nodes:
        if isinstance(node, n.Call) and node.name in UNTYPED:
            UNTYPED[node.name](node, changes)
        write_out_rows(node, changes, conditions)
        write_out_lists(node, changes, floats, several=several)
        rewrite_any(node, changes, conditions)
        keep_above(node, changes)
        flatten_groups(node, changes)
        select_nothing(node, changes)
        may_be_null(node, changes)
        count_rows(node, changes, reads_views=reads_views)
        if isinstance(node, n.Comprehension):
            _with_lambdas(node, changes)
        elif isinstance(node, n.Join):
            guard_join(node, changes)
        elif isinstance(node, n.Select):
            refuse_reversed(node, changes)
            guard_select(node, defined, changes, is_read=is_source or id(node) not in outermost)
        elif isinstance(node, n.Query):
            guard_order(node, changes)
    hide_constants(nodes, changes)
    if is_source:
        guard(root, changes)
    return changes.write(root)


def _with_lambdas(node: n.Comprehension, changes: Changes) -> None:
    """[x + 1 FOR x IN list IF x > 1] as list_transform(list_filter(list, x -> x > 1), x -> x + 1)"""
    names = f"({', '.join(map(quote, node.names))}) -> "
    base: Template = [node.base]
    if node.condition is not None:
        base = ["list_filter(", node.base, ", ", names, node.condition, ")"]
    changes.replace(node, ["list_transform(", *base, ", ", names, node.body, ")"])


def _outermost(body: n.Node) -> Iterator[n.Node]:
    """Yields the SELECTs whose rows are those of the statement."""
    match body:
        case n.Query():
            yield from _outermost(body.body)
        case n.SetOperation():
            yield from _outermost(body.left)
            yield from _outermost(body.right)
        case n.Select():
            yield body


def _conditions(nodes: Iterable[n.Node]) -> Iterator[n.Node]:
    """Yields the nodes for which NULL and false are equivalent."""
    for node in nodes:
        waiting = _tops(node)
        while waiting:
            found = bare(waiting.pop())
            yield found
            if isinstance(found, n.Binary) and found.operator in ("AND", "OR"):
                waiting += parts_of(found)


def _tops(node: n.Node) -> list[n.Node]:
    """Returns the conditions of one SELECT or JOIN."""
    tops = [node.where, node.having, node.qualify] if isinstance(node, n.Select) else []
    tops += [node.on] if isinstance(node, n.Join) else []
    return [top for top in tops if top is not None]
