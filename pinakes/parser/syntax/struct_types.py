"""Casts to a type STRUCT(a INT, b VARCHAR), which DataFusion writes with angle brackets.

x::STRUCT(a INT)[]                →  x::STRUCT<a INT>[]
CAST(x AS STRUCT(a DECIMAL(9, 2)))  →  CAST(x AS STRUCT<a DECIMAL(9, 2)>)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, closing, replaced, word

_CASTS = frozenset({"CAST", "TRY_CAST"})


def struct_types(tokens: Sequence[Token]) -> Iterator[Repair]:
    callers, end = list[str](), -1
    for at, token in enumerate(tokens):
        if token.word in OPEN:
            callers.append(word(tokens, at - 1))
        elif token.word in CLOSE and callers:
            callers.pop()
        elif token.word == "STRUCT" and word(tokens, at + 1) == "(":
            is_cast = word(tokens, at - 1) == "AS" and callers[-1:] != [] and callers[-1] in _CASTS
            if is_cast or word(tokens, at - 1) == "::" or at < end:  # a field of another struct, with its own fields
                closed = closing(tokens, at + 1)
                end = max(end, closed)
                yield replaced(tokens[at + 1], tokens[at + 1], "<")
                yield replaced(tokens[closed], tokens[closed], ">")
