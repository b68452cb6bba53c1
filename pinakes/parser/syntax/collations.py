"""COLLATE. Texts are compared by their code points, which is the collation "C".

a COLLATE "C" < b           →  a < b
ORDER BY a COLLATE NOCASE   →  ORDER BY lower(a)
a = b COLLATE NOCASE        →  lower(a) = lower(b)
a COLLATE NOCASE IN ('b')   →  lower(a) IN (lower('b'))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, inserted, replaced, word

_PLAIN = frozenset({"c", "posix", "binary", "ucs_basic"})
_CLAUSES = frozenset({"BY", "SELECT", "FROM", "WHERE", "HAVING", "LIMIT"})
_COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">="})
_BEFORE = frozenset({"(", ",", "SELECT", "WHERE", "ON", "AND", "OR", "NOT", "WHEN", "HAVING", "THEN", "ELSE"})
_BEHIND = frozenset(
    {"", ")", ",", "AND", "OR", "THEN", "WHEN", "ELSE", "END", "AS", "FROM", "WHERE", "GROUP", "HAVING", "ORDER"}
    | {"LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", ";"}
    | {"COLLATE"}
)


def collations(tokens: Sequence[Token]) -> Iterator[Repair]:
    clauses, has_between = [""], False
    for at, token in enumerate(tokens):
        if token.word in OPEN:
            clauses.append("")
        elif token.word in CLOSE and len(clauses) > 1:
            clauses.pop()
        elif token.word in _CLAUSES:
            clauses[-1] = f"{word(tokens, at - 1)} BY" if token.word == "BY" else token.word
        has_between = has_between or token.word == "BETWEEN"
        if token.word != "COLLATE" or at + 1 >= len(tokens) or tokens[at + 1].kind not in ("word", "quoted", "string"):
            continue
        name = tokens[at + 1].text.lower()
        if name in _PLAIN:
            yield replaced(token, tokens[at + 1], "")
            continue
        first = _column(tokens, at)
        is_key = first is not None and word(tokens, first - 1) in ("BY", ",") and clauses[-1] == "ORDER BY"
        if name == "nocase" and first is not None and is_key:
            yield inserted(tokens[first].start, "lower(")
            yield replaced(token, tokens[at + 1], ")")
            continue
        if name == "nocase" and (compared := _compared(tokens, at, has_between)):
            yield from compared
            continue
        instead = "lower(a) on both sides" if name == "nocase" else 'COLLATE "C", or lower(a)'
        raise Fault(
            f"COLLATE {tokens[at + 1].text} is not supported here: write {instead}", token.start, unsupported=True
        )


def _compared(tokens: Sequence[Token], at: int, has_between: bool) -> list[Repair]:
    """Returns the rewrites of a comparison of plain operands, one of which has the collation; none for other forms."""
    first = _operand(tokens, at - 1)
    if first is None:
        return []
    found = [inserted(tokens[first].start, "lower("), replaced(tokens[at], tokens[at + 1], ")")]
    before, behind = word(tokens, first - 1), word(tokens, at + 2)
    if before in _COMPARISONS and behind in _BEHIND - {"COLLATE"}:
        if word(tokens, first - 3) == "COLLATE":  # the other operand is rewritten by itself
            return found
        other = _operand(tokens, first - 2)
        if other is None or not _starts(tokens, other, has_between):
            return []
        return [inserted(tokens[other].start, "lower("), inserted(tokens[first - 2].end, ")"), *found]
    if not _starts(tokens, first, has_between):
        return []
    if behind in _COMPARISONS:
        last = at + 3
        while word(tokens, last + 1) == ".":
            last += 2
        if last >= len(tokens) or _operand(tokens, last) != at + 3 or word(tokens, last + 1) not in _BEHIND:
            return []
        if word(tokens, last + 1) != "COLLATE":
            found += [inserted(tokens[at + 3].start, "lower("), inserted(tokens[last].end, ")")]
        return found
    opened = at + 3 if behind == "IN" else at + 4
    if (behind != "IN" and (behind, word(tokens, at + 3)) != ("NOT", "IN")) or word(tokens, opened) != "(":
        return []
    listed = _listed(tokens, opened)
    return [*found, *listed] if listed else []


def _listed(tokens: Sequence[Token], opened: int) -> list[Repair]:
    """Returns the rewrites of a list of constants and parameters; none for another."""
    found, at = list[Repair](), opened + 1
    while at < len(tokens) and tokens[at].kind in ("string", "parameter"):
        found += [inserted(tokens[at].start, "lower("), inserted(tokens[at].end, ")")]
        if word(tokens, at + 1) == ")":
            return found
        if word(tokens, at + 1) != ",":
            return []
        at += 2
    return []


def _operand(tokens: Sequence[Token], last: int) -> int | None:
    """Returns the index of the first token of a column, a constant text or a parameter that ends at `last`."""
    if last >= 0 and tokens[last].kind in ("string", "parameter"):
        return last
    found = _column(tokens, last + 1)
    return found if found is not None and tokens[found].word not in _BEFORE | _BEHIND else None


def _starts(tokens: Sequence[Token], first: int, has_between: bool) -> bool:
    """Returns whether an operand is the first of its expression. After an AND it may be a bound of BETWEEN."""
    before = word(tokens, first - 1)
    return before in _BEFORE and not (before == "AND" and has_between)


def _column(tokens: Sequence[Token], at: int) -> int | None:
    """Returns the index of the first token of the column before `at`."""
    at -= 1
    if at < 0 or tokens[at].kind not in ("word", "quoted"):
        return None
    while word(tokens, at - 1) == "." and at > 1:
        at -= 2
    return at
