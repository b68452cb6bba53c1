"""Positions in a sequence of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span

OPEN, CLOSE = frozenset("([{"), frozenset(")]}")


def word(tokens: Sequence[Token], at: int) -> str:
    """Returns the word of a token; empty beyond the ends."""
    return tokens[at].word if 0 <= at < len(tokens) else ""


def closing(tokens: Sequence[Token], opened: int) -> int:
    """Returns the index of the bracket that closes the one at `opened`."""
    depth = 0
    for at in range(opened, len(tokens)):
        depth += (tokens[at].word in OPEN) - (tokens[at].word in CLOSE)
        if depth == 0:
            return at
    raise Fault("expected )", tokens[opened].start)


def opening(tokens: Sequence[Token], closed: int) -> int:
    """Returns the index of the bracket that is closed at `closed`."""
    depth = 0
    for at in range(closed, -1, -1):
        depth += (tokens[at].word in CLOSE) - (tokens[at].word in OPEN)
        if depth == 0:
            return at
    raise Fault("expected (", tokens[closed].start)


def replaced(first: Token, last: Token, text: str) -> Repair:
    """Replaces the tokens from `first` to `last`."""
    return Repair(Span(first.start, last.end), text)


def inserted(offset: int, text: str) -> Repair:
    return Repair(Span(offset, offset), text)
