"""EXISTS (SELECT i.id FROM o JOIN i … WHERE o.id = a.id): the selected items do not matter, but DataFusion 55
compares the outer column with a selected one of the same name as the column that is meant. So constants are
selected.

    EXISTS (SELECT i.id, i.n FROM …)      EXISTS (SELECT 1, 2 FROM …)

`engine/datafusion/workarounds/correlated_subqueries.py` refuses other subqueries with such names.

An aggregate without GROUP BY always has a row, which DataFusion 55 omits where no row matches:

    EXISTS (SELECT sum(k) FROM …)         ((SELECT count(k) FROM …) >= 0)
"""

from __future__ import annotations

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import AGGREGATES, aggregates
from pinakes.parser.workarounds.writing import Changes, Template, within_query


def select_nothing(node: n.Node, changes: Changes) -> None:
    if not isinstance(node, n.Exists) or node.query.order or not isinstance(node.query.body, n.Select):
        return
    select = node.query.body
    if select.distinct or select.groups or select.having is not None or select.qualify is not None:
        return
    if any(map(_gives_rows, select.items)):
        return
    if any(map(aggregates, select.items)):
        if len(select.items) == 1 and not node.query.tail:
            changes.replace(select.items[0], _count(select.items[0].value))
            changes.replace(node, ["((", node.query, ") >= 0)"])
        return
    for number, item in enumerate(select.items):
        changes.replace(item, [str(number + 1)])


def _count(value: n.Node) -> Template:
    """Returns count() of the argument of an aggregate in the item, which may be a column of the outer query."""
    for part in within_query(value):
        match part:
            case n.Call(name=name, arguments=[argument]) if name in AGGREGATES and not isinstance(argument, n.Star):
                return ["count(", argument, ")"]
    return ["count(*)"]


def _gives_rows(item: n.Item) -> bool:
    """unnest(a)"""
    return any(isinstance(part, n.Call) and part.name == "unnest" for part in within_query(item))
