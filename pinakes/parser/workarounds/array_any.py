"""x = ANY (array): without a match, DataFusion 55 returns false, even if a NULL in the array makes the result NULL.

An array literal becomes a list of values. Other arrays are checked for NULLs, unless the comparison is a predicate by
itself, where false and NULL are the same.

    4 = ANY ([1, NULL])      4 IN (1, NULL)
    4 > ANY ([1, NULL])      4 > 1 OR 4 > NULL
"""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, Template, bare, is_repeatable, operand


def rewrite_any(node: n.Node, changes: Changes, conditions: set[int]) -> None:
    if not isinstance(node, n.Quantified) or isinstance(node.query, n.Query) or id(node) in conditions:
        return
    words = changes.words_behind(node.operand, node)
    at = next((i for i, word in enumerate(words) if word in ("ANY", "SOME", "ALL")), 0)
    if at == 0 or words[at] == "ALL":
        return
    operator, array = words[at - 1], bare(node.query)
    if isinstance(array, n.Array) and array.items and not any(isinstance(i, n.Array) for i in array.items):
        changes.replace(node, _listed(node, array, operator))
        return
    if not is_repeatable(node.operand) or not is_repeatable(node.query):
        raise NotSupportedError(
            "= ANY (array) with a function in it that gives something else each time is only supported as a condition "
            "by itself: compute it in a subquery, and compare its column"
        )
    changes.replace(node, _comparison(node, operator))


def _listed(node: n.Quantified, array: n.Array, operator: str) -> Template:
    found: Template
    if operator in ("=", "=="):
        found = ["(", *operand(node.operand), " IN ("]
        for number, item in enumerate(array.items):
            found += [", " if number else "", item]
        return [*found, "))"]
    if not is_repeatable(node.operand):
        raise NotSupportedError(
            f"{operator} ANY (…) after a function that gives something else each time is only supported as a condition "
            "by itself: compute it in a subquery, and compare its column"
        )
    found = ["("]
    for number, item in enumerate(array.items):
        found += [" OR " if number else "", "(", *operand(node.operand), f" {operator} ", *operand(item), ")"]
    return [*found, ")"]


def _comparison(node: n.Quantified, operator: str) -> Template:
    array, value = node.query, operand(node.operand)
    return [
        "(CASE WHEN cardinality(", array, ") = 0 THEN false WHEN ", *value, f" {operator} ANY (", array, ") THEN true ",
        "WHEN ", *value, " IS NULL OR ", *operand(array), " IS NULL OR array_position(", array, ", NULL) IS NOT NULL ",
        "THEN NULL ELSE false END)",
    ]  # fmt: skip
