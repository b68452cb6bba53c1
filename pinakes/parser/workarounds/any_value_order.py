"""DataFusion 55 ignores ORDER BY within any_value: it returns the first value that it reads. first_value applies
it:

    any_value(a ORDER BY b)   →   first_value(a IGNORE NULLS ORDER BY b)

Delete when tests/workarounds/test_any_value_order.py reports that it is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span


def ordered_any_values(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Yields the rewrites of the text."""
    for at, token in enumerate(tokens[:-1]):
        if token.word == "ANY_VALUE" and tokens[at + 1].word == "(":
            order = _order(tokens, at + 1)
            if order is not None:
                yield Repair(Span(token.start, token.end), "first_value")
                yield Repair(Span(order.start, order.start), "IGNORE NULLS ")


def _order(tokens: Sequence[Token], opened: int) -> Token | None:
    """Returns the ORDER in the bracket itself, unless a clause about NULLs precedes it."""
    depth = 0
    for token in tokens[opened:]:
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0 or (depth == 1 and token.word in ("IGNORE", "RESPECT")):
            return None
        if depth == 1 and token.word == "ORDER":
            return token
    return None
