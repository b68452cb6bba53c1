"""(SELECT 5 FROM t WHERE false) is NULL, since there is no row. DataFusion 55 only checks whether the item is
nullable: it replaces IS NULL by false, and coalesce by the item. It checks again after constant folding, so
every item is made nullable by a condition that is always true and is not folded.

    (SELECT 5 AS v FROM t)        (SELECT CASE WHEN random() >= -1 THEN (5) END AS v FROM t)
    (SELECT DISTINCT v FROM t)    (SELECT CASE WHEN random() >= -1 THEN "$value" END FROM (…) AS "$rows"("$value"))

An aggregate without groups, HAVING and LIMIT always has a row, and is unchanged.
"""

from __future__ import annotations

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import aggregates
from pinakes.parser.workarounds.writing import Changes

_ALWAYS = "CASE WHEN random() >= -1 THEN "


def may_be_null(node: n.Node, changes: Changes) -> None:
    """Rewrites scalar subqueries."""
    if not isinstance(node, n.Scalar):
        return
    query = node.query
    while isinstance(query.body, n.Query) and not query.tail:  # ((SELECT …))
        query = query.body
    if _has_a_row(query):
        return
    item = _own_item(query)
    if item is not None:
        changes.replace(item, [f"{_ALWAYS}(", item.value, f") END AS {_name(item, changes)}"])
    else:
        changes.surround(query, f'SELECT {_ALWAYS}"$value" END FROM (', ') AS "$rows"("$value")')


def _own_item(query: n.Query) -> n.Item | None:
    """Returns the single item of a plain SELECT, which can be changed in place, so that it may refer to the outer
    row.
    """
    body = query.body
    if not isinstance(body, n.Select) or len(body.items) != 1 or body.distinct or body.distinct_on or query.tail:
        return None
    return None if isinstance(body.items[0].value, n.Star) else body.items[0]


def _has_a_row(query: n.Query) -> bool:
    """Returns whether a query has exactly one row for any content of the tables."""
    body = query.body
    if not isinstance(body, n.Select) or query.tail or body.groups or body.having or body.qualify:
        return False
    return any(aggregates(item) for item in body.items) or not (body.sources or body.where)


def _name(item: n.Item, changes: Changes) -> str:
    """Returns the name of the item for ORDER BY."""
    column = item.value.parts[-1] if isinstance(item.value, n.Column) else changes.text[item.start : item.end]
    return '"' + (item.alias or column).replace('"', '""') + '"'
