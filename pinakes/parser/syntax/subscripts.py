"""Slices without one of their bounds, which DataFusion requires: the last element has the index -1.

a[2:], a[:2], a[:]  →  a[2:-1], a[1:2], a[1:-1]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, inserted


def bounded_slices(tokens: Sequence[Token]) -> Iterator[Repair]:
    within = list[str]()
    for at, token in enumerate(tokens):
        if token.word in OPEN:
            within.append(token.word)
        elif token.word in CLOSE and within:
            within.pop()
        elif token.word == ":" and within[-1:] == ["["] and at + 1 < len(tokens):
            if tokens[at - 1].word == "[":
                yield inserted(token.start, "1")
            if tokens[at + 1].word == "]":
                yield inserted(token.end, "-1")
