"""Splits a predicate at AND, and finds the columns that each part names: enough to determine the tables that it
joins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinakes.core.names import Part
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Span


@dataclass(frozen=True, slots=True)
class Named:
    """A word that may be a column, and its qualifier if it has one."""

    qualifier: Part | None
    name: Part


@dataclass(frozen=True, slots=True)
class Condition:
    span: Span
    named: tuple[Named, ...]
    is_equality: bool
    """Whether it is a comparison by `=` with a column on one side."""
    is_plain: bool
    """Whether it contains neither a query nor a parameter."""


def conditions(tokens: Sequence[Token]) -> list[Condition]:
    return [_condition(part) for part in _parts(tokens) if part]


def _parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    tokens = _unwrapped(tokens)
    cuts = list(_cuts(tokens))
    if not cuts:
        yield tokens
        return
    for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(tokens)], strict=True):
        yield from _parts(tokens[start:end])


def _cuts(tokens: Sequence[Token]) -> list[int]:
    """Returns the indexes of AND outside of brackets, CASE … END and BETWEEN; empty if there is also an OR."""
    found: list[int] = []
    depth = between = 0
    for at, token in enumerate(tokens):
        depth += (token.word in ("(", "[", "CASE")) - (token.word in (")", "]", "END"))
        if depth:
            continue
        if token.word == "BETWEEN":
            between += 1
        elif token.word == "AND" and between:
            between -= 1
        elif token.word == "AND":
            found.append(at)
        elif token.word in ("OR", "XOR"):
            return []
    return found


def _unwrapped(tokens: Sequence[Token]) -> Sequence[Token]:
    """Returns the tokens without enclosing brackets."""
    while len(tokens) > 2 and tokens[0].word == "(" and tokens[-1].word == ")" and _is_one_pair(tokens):
        tokens = tokens[1:-1]
    return tokens


def _is_one_pair(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens[:-1]:
        depth += (token.word == "(") - (token.word == ")")
        if depth == 0:
            return False
    return True


def _condition(tokens: Sequence[Token]) -> Condition:
    words = {t.word for t in tokens}
    is_plain = not words & {"SELECT", "FROM", "TABLE", "VALUES"} and all(t.kind != "parameter" for t in tokens)
    span = Span(tokens[0].start, tokens[-1].end)
    return Condition(span, tuple(_named(tokens)), _is_equality(tokens), is_plain)


def _named(tokens: Sequence[Token]) -> Iterator[Named]:
    """Yields every name that is not a function call; for a dotted name its last two parts."""
    at = 0
    while at < len(tokens):
        parts, at = _dotted(tokens, at)
        called = at < len(tokens) and tokens[at].word == "("
        if parts and not called:
            yield Named(parts[-2] if len(parts) > 1 else None, parts[-1])
        at += not parts


def _dotted(tokens: Sequence[Token], at: int) -> tuple[list[Part], int]:
    parts: list[Part] = []
    while at < len(tokens) and tokens[at].kind in ("word", "quoted"):
        parts.append(Part(tokens[at].text, tokens[at].kind == "quoted"))
        at += 1
        if at + 1 >= len(tokens) or tokens[at].word != ".":
            break
        at += 1
    return parts, at


def _is_equality(tokens: Sequence[Token]) -> bool:
    """Returns whether this is `a.b = …` or `… = a.b`, without operators of lower precedence."""
    sides = [at for at, t in enumerate(tokens) if t.word in ("=", "==")]
    if len(sides) != 1 or any(t.word in ("AND", "OR", "XOR", "NOT", "CASE") for t in tokens):
        return False
    return any(_is_name(side) for side in (tokens[: sides[0]], tokens[sides[0] + 1 :]))


def _is_name(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and _dotted(tokens, 0)[1] == len(tokens)
