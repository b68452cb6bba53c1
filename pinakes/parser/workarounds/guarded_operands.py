"""WHERE b <> 0 AND a / b > 2: DataFusion 55 computes both sides of AND for all rows, so that a condition does not guard
the one behind it, and the statement fails with a division by zero.

What may fail gets its operand only where the conditions before it that speak of the same columns are true:

    WHERE b <> 0 AND a / b > 2      WHERE b <> 0 AND a / (CASE WHEN (b <> 0) THEN b END) > 2
    WHERE b = 0 OR a / b > 2        WHERE b = 0 OR a / (CASE WHEN (b = 0) IS NOT TRUE THEN b END) > 2
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import conjuncts
from pinakes.parser.workarounds.writing import Changes, all_below, bare, is_repeatable, parts_of

MAY_FAIL = re.compile(
    r"\b(?:AND|OR)\b.*(?:[/%]|::|\bCAST\s*\(|\b(?:ln|log|log2|log10|sqrt|mod)\s*\()", re.IGNORECASE | re.DOTALL
)
_DOMAINS = frozenset({"ln", "log", "log2", "log10", "sqrt", "mod"})
_NUMBERS = frozenset(
    "TINYINT SMALLINT INT INTEGER BIGINT INT2 INT4 INT8 REAL FLOAT FLOAT4 FLOAT8 DOUBLE DECIMAL NUMERIC".split()
)


def guard_operands(condition: n.Node, changes: Changes) -> None:
    """Of one condition in WHERE, HAVING, QUALIFY or ON."""
    before = list[tuple[n.Node, str]]()
    for conjunct in conjuncts(condition):
        earlier = list[tuple[n.Node, str]]()
        for disjunct in _disjuncts(conjunct):
            _guard(disjunct, [*before, *earlier], changes)
            earlier += _as_guard(disjunct, "({}) IS NOT TRUE", changes)
        before += _as_guard(conjunct, "({})", changes)


def _guard(node: n.Node, guards: list[tuple[n.Node, str]], changes: Changes) -> None:
    for operand in _may_fail(node):
        columns = _columns(operand)
        texts = [text for guard, text in guards if columns & _columns(guard)]
        if texts:
            changes.surround(operand, f"(CASE WHEN {' AND '.join(texts)} THEN ", " END)")


def _as_guard(node: n.Node, form: str, changes: Changes) -> list[tuple[n.Node, str]]:
    """A condition that guards those behind it: one that does not fail itself, and needs no workaround."""
    others = any(isinstance(part, n.Query | n.Row | n.InList) for part in all_below(node))
    if others or not is_repeatable(node) or any(True for _ in _may_fail(node)):
        return []
    return [(node, form.format(changes.text[node.start : node.end]))]


def _disjuncts(condition: n.Node) -> Iterator[n.Node]:
    """What OR joins to a condition."""
    waiting = [condition]
    while waiting:
        found = bare(waiting.pop())
        if isinstance(found, n.Binary) and found.operator == "OR":
            waiting += [found.right, found.left]
        else:
            yield found


def _may_fail(node: n.Node) -> Iterator[n.Node]:
    """The operands that decide whether something fails; CASE has guards of its own."""
    match node:
        case n.Case() | n.Query():
            return
        case n.Binary(operator="/" | "%"):
            yield node.right
        case n.Cast(form="CAST" | "::") if node.type.name in _NUMBERS:
            yield node.operand
        case n.Call() if node.name in _DOMAINS and node.arguments and not node.over:
            yield node.arguments[-1]
    for part in parts_of(node):
        yield from _may_fail(part)


def _columns(node: n.Node) -> set[tuple[str, ...]]:
    return {part.parts[-1:] for part in all_below(node) if isinstance(part, n.Column)}
