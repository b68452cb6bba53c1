"""DataFusion 55 computes sums and filtered aggregates over a subquery from unrelated statistics.

SELECT sum(one) FROM (SELECT 1.5 AS one FROM t): the sum of no rows is NULL. DataFusion multiplies the constant of the
column's statistics with zero rows, and returns 0. A function of the column has no statistics.

    sum(one)      sum(nullif(one, NULL))

SELECT sum(c) FILTER (WHERE c > 9) FROM (SELECT count(*) AS c FROM t): the FILTER is ignored, and the count, which is
known without reading, replaces the sum, unless the query fails earlier.

    sum(c) FILTER (WHERE x)      sum(CASE WHEN (x) THEN c END)
"""

from __future__ import annotations

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, all_below, bare, within_query

_PASS_NULLS_BY = frozenset({"avg", "bool_and", "bool_or", "count", "max", "median", "min", "stddev", "sum", "var"})


def count_rows(node: n.Node, changes: Changes, *, reads_views: bool) -> None:
    """Rewrites aggregates over a subquery, a WITH or a view, not over a table's own column."""
    if not isinstance(node, n.Select) or node.groups or not (reads_views or _reads_queries(node)):
        return
    tops = [*node.items, *([] if node.having is None else [node.having])]
    for part in (part for top in tops for part in within_query(top)):
        if not isinstance(part, n.Call) or part.over or part.named or len(part.arguments) != 1:
            continue
        argument = bare(part.arguments[0])
        if part.name == "sum" and not part.others and not part.distinct and isinstance(argument, n.Column | n.Cast):
            changes.replace(part, ["sum(nullif(", part.arguments[0], ", NULL))"])
        elif part.name in _PASS_NULLS_BY and _is_filtered(part, changes):
            value: n.Node | str = "1" if isinstance(argument, n.Star) else part.arguments[0]
            before = f"{part.name}({'DISTINCT ' if part.distinct else ''}CASE WHEN ("
            changes.replace(part, [before, part.others[0], ") THEN ", value, " END)"])


def _is_filtered(call: n.Call, changes: Changes) -> bool:
    """Returns whether a call has FILTER, and nothing else after the arguments."""
    if len(call.others) != 1:
        return False
    words = changes.text[call.arguments_end : call.others[0].start].upper().replace("(", " ( ").split()
    return words[:3] == ["FILTER", "(", "WHERE"] and set(words[3:]) <= {"("}


def _reads_queries(select: n.Select) -> bool:
    sources = [part for source in select.sources for part in all_below(source)]
    return any(isinstance(s, n.Derived) or (isinstance(s, n.Table) and len(s.parts) == 1) for s in sources)
