"""WHERE r = 'eu' … GROUP BY ROLLUP (r, p) ORDER BY r: DataFusion 55 treats r as the constant 'eu', although it is
NULL in the totals. It removes r from sort keys, also for windows that are partitioned by it.

IS TRUE hides from it that a column is constant. Such predicates are searched in the complete text, since they may be in
a subquery; `engine/datafusion/workarounds/join_filter_columns.py` refuses those of views.

    WHERE r = 'eu'      WHERE ((r = 'eu') IS TRUE)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.core.errors import NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import conjuncts, has_grouping_sets
from pinakes.parser.workarounds.writing import Changes, all_below, bare


def hide_constants(nodes: Sequence[n.Node], changes: Changes) -> None:
    """`nodes` are those of the complete text."""
    sets = [node for node in nodes if isinstance(node, n.Select) and has_grouping_sets(node, changes)]
    keys = {column.parts[-1] for select in sets for group in select.groups for column in _columns(group)}
    for condition in _conditions(nodes) if keys else ():
        for conjunct in conjuncts(condition):
            _refuse_equal(conjunct, keys)
            if _concerns(conjunct, keys):
                changes.surround(conjunct, "((", ") IS TRUE)")


def _conditions(nodes: Sequence[n.Node]) -> Iterator[n.Node]:
    for node in nodes:
        condition = node.where if isinstance(node, n.Select) else node.on if isinstance(node, n.Join) else None
        if condition is not None:
            yield condition


def _refuse_equal(conjunct: n.Node, keys: set[str]) -> None:
    """Refuses ON a = c … GROUP BY CUBE (a, c): they are not equal in the totals either, and a join can't be hidden."""
    if not isinstance(conjunct, n.Binary) or conjunct.operator not in ("=", "=="):
        return
    sides = bare(conjunct.left), bare(conjunct.right)
    names = {side.parts[-1] for side in sides if isinstance(side, n.Column)}
    if len(names) == 2 and names <= keys:
        one, other = sorted(names)
        raise NotSupportedError(
            f"GROUPING SETS, ROLLUP and CUBE of both {one} and {other}, which a condition makes equal, are not "
            "supported: totals would be sorted wrongly. Group by one of them"
        )


def _concerns(conjunct: n.Node, keys: set[str]) -> bool:
    """Returns whether a predicate may make a key constant. A comparison of two columns is a join and unchanged, as
    are subqueries.
    """
    if any(isinstance(part, n.Query) for part in all_below(conjunct)):
        return False
    columns = {column.parts[-1] for column in _columns(conjunct)}
    joins = isinstance(conjunct, n.Binary) and any(_columns(conjunct.left)) and any(_columns(conjunct.right))
    return bool(columns & keys) and not joins


def _columns(node: n.Node) -> Iterator[n.Column]:
    return (part for part in all_below(node) if isinstance(part, n.Column))
