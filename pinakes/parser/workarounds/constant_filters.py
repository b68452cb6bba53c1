"""DataFusion 55 pushes a predicate without columns below an aggregate without groups, as if it filtered groups; the
aggregate then returns a row of its own. Many predicates become constant during optimisation: c BETWEEN NULL AND
7.

    SELECT count(*) FROM t HAVING x         HAVING CASE WHEN count(*) >= 0 THEN (x) ELSE count(*) > 0 END
    FROM (SELECT count(*) FROM t) WHERE x   FROM (SELECT count(*) FROM t LIMIT 1) WHERE x

A predicate stays above a LIMIT, and where it refers to the aggregate itself. GROUPING SETS, ROLLUP and CUBE, which may
have a set without columns, are treated likewise.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, bare, within_query

ALL_ROWS = 9223372036854775807
AGGREGATES = frozenset(
    "any_value approx_distinct approx_median approx_percentile_cont approx_percentile_cont_with_weight array_agg "
    "avg bit_and bit_or bit_xor bool_and bool_or corr count covar covar_pop covar_samp first_value grouping "
    "last_value max mean median min nth_value percentile_cont quantile_cont regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var "
    "var_pop var_population var_samp var_sample "
    "approx_percentile approx_quantile approx_count_distinct arbitrary every arg_max arg_min count_if countif first "
    "group_concat histogram last list listagg max_by min_by mode".split()
)
"""The aggregates of DataFusion 55 and of `parser/functions/aggregates.py`, and no others: a LIMIT 1 after another
function would lose rows."""


def keep_above(node: n.Node, changes: Changes) -> None:
    """Guards the HAVING of a SELECT, and the queries that others read."""
    if isinstance(node, n.Select) and _rows_of(node, changes) is not None:
        for condition in (node.having, node.qualify):
            for conjunct in conjuncts(condition) if condition is not None else ():
                if not _is_join(conjunct):
                    changes.surround(conjunct, "CASE WHEN count(*) >= 0 THEN (", ") ELSE count(*) > 0 END")
    elif isinstance(node, n.Derived) and not _is_lateral(node, changes):
        guard(node.query, changes)
    elif isinstance(node, n.Query):
        for defined in node.defined:
            guard(defined.query, changes)


def guard(query: n.Query, changes: Changes) -> None:
    """Adds a LIMIT that removes no rows, if the query or a part of its UNION is such an aggregate."""
    body = query.body
    if isinstance(body, n.Query):
        guard(body, changes)
    elif isinstance(body, n.SetOperation):
        _guard_sides(body, changes)
    elif isinstance(body, n.Select) and not query.tail and (rows := _rows_of(body, changes)) is not None:
        changes.surround(query, "", f" LIMIT {rows}")


def _guard_sides(operation: n.SetOperation, changes: Changes) -> None:
    for side in (operation.left, operation.right):
        if isinstance(side, n.SetOperation):
            _guard_sides(side, changes)
        elif isinstance(side, n.Query):
            guard(side, changes)
        elif isinstance(side, n.Select) and (rows := _rows_of(side, changes)) is not None:
            changes.surround(side, "(", f" LIMIT {rows})")


def _rows_of(select: n.Select, changes: Changes) -> int | None:
    """Returns the maximum rows of an aggregate that always returns one; None for any other SELECT."""
    if select.groups:
        return ALL_ROWS if has_grouping_sets(select, changes) else None
    if select.having is None and not any(aggregates(item) for item in select.items):
        return None
    calls = (part for item in select.items for part in within_query(item) if isinstance(part, n.Call))
    return ALL_ROWS if any(call.name == "unnest" for call in calls) else 1


def has_grouping_sets(select: n.Select, changes: Changes) -> bool:
    return any(changes.first_word(group) in ("ROLLUP", "CUBE", "GROUPING") for group in select.groups)


def aggregates(item: n.Item) -> bool:
    calls = (part for part in within_query(item) if isinstance(part, n.Call) and not part.over)
    return any(call.name in AGGREGATES for call in calls)


def conjuncts(condition: n.Node) -> Iterator[n.Node]:
    """Yields the operands of AND in a condition."""
    found = bare(condition)
    if isinstance(found, n.Binary) and found.operator == "AND":
        yield from conjuncts(found.left)
        yield from conjuncts(found.right)
    else:
        yield found


def _is_join(condition: n.Node) -> bool:
    """Returns whether this is [NOT] IN (SELECT …) or [NOT] EXISTS: a join above the aggregate, which is not pushed
    down.
    """
    while isinstance(condition := bare(condition), n.Unary) and condition.operator == "NOT":
        condition = condition.operand
    return isinstance(condition, n.InQuery | n.Exists | n.Quantified)


def _is_lateral(node: n.Derived, changes: Changes) -> bool:
    return changes.first_word(node) == "LATERAL"
