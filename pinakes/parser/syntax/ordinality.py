"""FROM unnest([…], […]) WITH ORDINALITY AS t(x, y, n): the number of each element, in the last column.

FROM (SELECT *, row_number() OVER () AS n FROM unnest([…], […]) AS t(x, y)) AS t
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.core.names import quote
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import closing, inserted, opening, replaced, word

_VALUES = frozenset({"NULL", "TRUE", "FALSE", "ARRAY", "[", "]", ",", "-"})


def is_numbered(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether the ORDINALITY at `at` is that of constant arrays, with a name for every column."""
    if word(tokens, at - 1) != "WITH" or word(tokens, at - 2) != ")":
        return False
    opened = opening(tokens, at - 2)
    if word(tokens, opened - 1) != "UNNEST" or word(tokens, opened - 2) not in ("FROM", ",", "JOIN"):
        return False
    inner = tokens[opened + 1 : at - 2]
    if any(t.kind in ("word", "quoted", "symbol", "parameter") and t.word not in _VALUES for t in inner):
        return False
    depth, arrays = 0, 1
    for token in inner:
        depth += (token.word == "[") - (token.word == "]")
        arrays += depth == 0 and token.word == ","
    _, names, _ = _alias(tokens, at)
    return len(names) == arrays + 1


def numbered(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "ORDINALITY" or not is_numbered(tokens, at):
            continue
        alias, names, end = _alias(tokens, at)
        called = opening(tokens, at - 2) - 1
        columns = ", ".join(names[:-1])
        yield inserted(tokens[called].start, f"(SELECT *, row_number() OVER () AS {names[-1]} FROM ")
        yield replaced(tokens[at - 1], tokens[end], f"AS {alias}({columns})) AS {alias}")


def _alias(tokens: Sequence[Token], at: int) -> tuple[str, list[str], int]:
    """Parses [AS] t(x, n) after ORDINALITY: the names as they are written, and the index of the last token."""
    at += 1 + (word(tokens, at + 1) == "AS")
    if at + 1 >= len(tokens) or tokens[at].kind not in ("word", "quoted") or word(tokens, at + 1) != "(":
        return "", [], at
    end = closing(tokens, at + 1)
    return _written(tokens[at]), [_written(t) for t in tokens[at + 2 : end] if t.word != ","], end


def _written(token: Token) -> str:
    return quote(token.text) if token.kind == "quoted" else quote(token.text.lower())
