"""Words that are left out or added.

WITH t AS [NOT] MATERIALIZED (…)   →  WITH t AS (…)       the plan is the same for both
a SEMI JOIN b, a ANTI JOIN b       →  a LEFT SEMI JOIN b
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import inserted, replaced, word


def without_materialized(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word != "MATERIALIZED" or word(tokens, at + 1) != "(":
            continue
        first = at - (word(tokens, at - 1) == "NOT")
        if word(tokens, first - 1) == "AS":
            yield replaced(tokens[first], token, "")


def left_joins(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        is_join = token.word in ("SEMI", "ANTI") and word(tokens, at + 1) == "JOIN"
        if is_join and word(tokens, at - 1) not in ("LEFT", "RIGHT", "NATURAL", "AS"):
            yield inserted(token.start, "LEFT ")
