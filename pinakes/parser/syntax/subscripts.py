"""Slices without one of their bounds, which DataFusion requires: the last element has the index -1.

a[2:], a[:2], a[:]  →  a[2:-1], a[1:2], a[1:-1]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, inserted


def bounded_slices(tokens: Sequence[Token]) -> Iterator[Repair]:
    within = list[tuple[str, list[int]]]()  # open brackets, with the colons in each
    for at, token in enumerate(tokens):
        if token.word in OPEN:
            within.append((token.word, []))
        elif token.word in CLOSE and within:
            opened, colons = within.pop()
            if opened != "[" or len(colons) != 1:  # a step counts from the other end if it is negative
                continue
            (colon,) = colons
            if tokens[colon - 1].word == "[":
                yield inserted(tokens[colon].start, "1")
            if colon + 1 == at:
                yield inserted(tokens[colon].end, "-1")
        elif token.word == ":" and within:
            within[-1][1].append(at)
