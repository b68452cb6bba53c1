"""COLLATE. Texts are compared by their code points, which is the collation "C".

a COLLATE "C" < b           →  a < b
ORDER BY a COLLATE NOCASE   →  ORDER BY lower(a)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import inserted, replaced, word

_PLAIN = frozenset({"c", "posix", "binary", "ucs_basic"})


def collations(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "COLLATE" or at + 1 >= len(tokens) or tokens[at + 1].kind not in ("word", "quoted", "string"):
            continue
        name = tokens[at + 1].text.lower()
        if name in _PLAIN:
            yield replaced(token, tokens[at + 1], "")
            continue
        first = _column(tokens, at)
        if name == "nocase" and first is not None and _is_sort_key(tokens, first):
            yield inserted(tokens[first].start, "lower(")
            yield replaced(token, tokens[at + 1], ")")
            continue
        instead = "lower(a) on both sides" if name == "nocase" else 'COLLATE "C", or lower(a)'
        raise Fault(
            f"COLLATE {tokens[at + 1].text} is not supported here: write {instead}", token.start, unsupported=True
        )


def _column(tokens: Sequence[Token], at: int) -> int | None:
    """Returns the index of the first token of the column before `at`."""
    at -= 1
    if at < 0 or tokens[at].kind not in ("word", "quoted"):
        return None
    while word(tokens, at - 1) == "." and at > 1:
        at -= 2
    return at


def _is_sort_key(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether the column at `at` is a key of ORDER BY, after other columns at most."""
    if word(tokens, at - 1) not in ("BY", ","):
        return False
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += (tokens[i].word == ")") - (tokens[i].word == "(")
        if depth < 0 or (depth == 0 and tokens[i].word in ("SELECT", "FROM", "WHERE", "HAVING", "LIMIT")):
            return False
        if depth == 0 and tokens[i].word == "BY":
            return word(tokens, i - 1) == "ORDER"
    return False
