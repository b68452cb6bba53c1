"""Rewrites the spelling of DuckDB to an arrow: list_filter(l, lambda x: x > 1) → list_filter(l, (x) -> x > 1)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span


def arrow_lambdas(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "LAMBDA" or token.kind != "word" or not at or tokens[at - 1].word not in ("(", ","):
            continue
        end = at + 1
        while end + 1 < len(tokens) and tokens[end].kind in ("word", "quoted") and tokens[end + 1].word == ",":
            end += 2
        if end + 1 < len(tokens) and tokens[end].kind in ("word", "quoted") and tokens[end + 1].word == ":":
            yield Repair(Span(token.start, tokens[at + 1].start), "(")
            yield Repair(Span(tokens[end].end, tokens[end + 1].end), ") ->")
