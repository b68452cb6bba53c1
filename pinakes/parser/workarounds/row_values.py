"""(a, b) < (5, 8): DataFusion 55 compares rows as structs, with NULL as an ordinary value. A comparison with NULL
is neither true nor false, so these are expanded column by column.

    (a, b) = (1, 2)            a = 1 AND b = 2
    (a, b) < (5, 8)            a < 5 OR (a = 5 AND b < 8)
    (a, b) IN ((1, 2), …)      (a = 1 AND b = 2) OR …
    (a, b) IN (SELECT x, y …)  EXISTS (SELECT 1 FROM (SELECT x, y …) AS r ("$0", "$1") WHERE a = "$0" AND b = "$1")
    (a, b) IS NULL             a IS NULL AND b IS NULL

EXISTS is false where IN (SELECT …) is NULL, so the last but one is for conditions, which accept neither. IS DISTINCT
FROM treats NULL as a value, and is unchanged.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, Template, bare, is_repeatable, operand

_STRICT = {"<": "<", "<=": "<", ">": ">", ">=": ">"}
_EQUAL, _UNEQUAL = frozenset({"=", "=="}), frozenset({"<>", "!="})


def write_out_rows(node: n.Node, changes: Changes, conditions: set[int]) -> None:
    """Rewrites a comparison of rows. `conditions` has the ids of the nodes for which NULL and false are equivalent."""
    match node:
        case n.Binary(operator=operator, left=left, right=right) if _are_rows(left, right):
            if operator in _EQUAL | _UNEQUAL or operator in _STRICT:
                changes.replace(node, _compared(operator, left, right))
        case n.InList(operand=row, items=items) if items and _are_rows(row, *items):
            _check_repeatable(row)
            either = _joined(" OR ", [_compared("=", row, item) for item in items])
            changes.replace(node, ["(NOT ", *either, ")"] if _is_negated(node, row, changes) else either)
        case n.InQuery(operand=row, query=query) if _are_rows(row):
            if id(node) not in conditions:
                raise NotSupportedError(
                    "(a, b) IN (SELECT …) is supported as a condition of WHERE or HAVING, combined by AND and OR; "
                    "here write EXISTS (SELECT 1 FROM … WHERE x = a AND y = b)"
                )
            changes.replace(node, _found_in(row, query, negated=_is_negated(node, row, changes)))
        case n.Between(operand=row, low=low, high=high) if _are_rows(row, low, high):
            _check_repeatable(row)
            both = _joined(" AND ", [_compared(">=", row, low), _compared("<=", row, high)])
            changes.replace(node, ["(NOT ", *both, ")"] if _is_negated(node, row, changes) else both)
        case n.Test(operands=[tested]) if _are_rows(tested):
            words = changes.words_behind(tested, node)
            if words in (["IS", "NULL"], ["IS", "NOT", "NULL"]):
                test = f" {' '.join(words)}"
                changes.replace(node, _joined(" AND ", [[*operand(item), test] for item in _items(tested)]))
        case n.Case(operand=n.Node() as compared) if _are_rows(compared):
            raise NotSupportedError(
                "CASE (a, b) WHEN (1, 2) is not supported, since a NULL in it would count as equal: write "
                "CASE WHEN a = 1 AND b = 2 THEN …"
            )


def _are_rows(*nodes: n.Node) -> bool:
    return all(isinstance(bare(node), n.Row) for node in nodes)


def _items(node: n.Node) -> list[n.Node]:
    row = bare(node)
    assert isinstance(row, n.Row)
    return row.items


def _compared(operator: str, left: n.Node, right: n.Node) -> Template:
    """Returns the comparison in parentheses, also of nested rows."""
    if not _are_rows(left, right):
        return ["(", *operand(left), f" {operator} ", *operand(right), ")"]
    lefts, rights = _items(left), _items(right)
    if len(lefts) != len(rights):
        raise InvalidArgument(f"a row of {len(lefts)} values can't be compared with one of {len(rights)}")
    pairs = list(zip(lefts, rights, strict=True))
    if operator not in _STRICT:
        word = " AND " if operator in _EQUAL else " OR "
        return _joined(word, [_compared(operator, *pair) for pair in pairs])
    for one, other in pairs[:-1]:
        _check_repeatable(one, other)
    found = _compared(operator, *pairs[-1])
    for one, other in reversed(pairs[:-1]):
        strict, equal = _compared(_STRICT[operator], one, other), _compared("=", one, other)
        found = ["(", *strict, " OR (", *equal, " AND ", *found, "))"]
    return found


def _found_in(row: n.Node, query: n.Query, *, negated: bool) -> Template:
    """Rewrites [NOT] IN (SELECT …). NOT IN also rejects a row whose comparison is NULL."""
    names = [f'"${number}"' for number in range(len(_items(row)))]
    equal = _joined(" AND ", [[*operand(item), f" = {name}"] for item, name in zip(_items(row), names, strict=True)])
    source: Template = ["EXISTS (SELECT 1 FROM (", query, f') AS "$rows" ({", ".join(names)}) WHERE ', *equal]
    return ["NOT ", *source, " IS NOT FALSE)"] if negated else [*source, ")"]


def _joined(word: str, templates: list[Template]) -> Template:
    found: Template = ["("]
    for number, template in enumerate(templates):
        found += [word, *template] if number else template
    return [*found, ")"]


def _is_negated(node: n.Node, first: n.Node, changes: Changes) -> bool:
    return changes.words_behind(first, node)[:1] == ["NOT"]


def _check_repeatable(*nodes: n.Node) -> None:
    if not all(is_repeatable(node) for node in nodes):
        raise NotSupportedError(
            "a comparison of rows with a function in it that gives something else each time is not supported: compute "
            "it in a subquery, and compare its column"
        )
