"""The typed statement as tokens before and after the cursor, and the name prefix at the cursor."""

from __future__ import annotations

import re
from typing import NamedTuple

from pinakes.core.names import Part
from pinakes.parser.lexemes import Lexeme, lexemes

LONGEST = 20_000
"""Maximum characters around the cursor that are read: longer statements are generated, not typed."""

_REST_OF_WORD = re.compile(r"[\w$]*")
_REST_OF_STRING = re.compile(r"[^\s']*'?")
_REST_OF_QUOTED = re.compile(r'[^\s"`]*["`]?')


class Typed(NamedTuple):
    """`qualifiers` are the parts of a dotted name before `prefix`, which begins at `start` (at its quote, if any)."""

    before: tuple[Lexeme, ...]
    after: tuple[Lexeme, ...]
    qualifiers: tuple[Part, ...]
    prefix: str
    quote: str
    start: int


def typed(text: str, cursor: int) -> Typed | None:
    """Analyzes the text at the cursor; returns None where nothing can be completed: in a comment, after a number or a
    closing quote."""
    begin = max(0, cursor - LONGEST)
    before = lexemes(text[begin:cursor])
    here = cursor - begin
    prefix, quote, start = "", "", here
    if before and (before[-1].end == here or not before[-1].closed):
        last = before[-1]
        if last.kind == "word":
            prefix, start = last.text, last.start
        elif last.kind in ("string", "quoted") and not last.closed:
            prefix, start, quote = last.text, last.start, text[begin + last.start]
        elif last.kind != "symbol":
            return None
        if last.kind != "symbol":
            before.pop()
    tokens = _of_one_statement(before)
    qualifiers = _qualifiers(tokens, start) if quote != "'" else ()
    kept = tokens[: len(tokens) - 2 * len(qualifiers)]
    return Typed(tuple(kept), _after(text, cursor, quote), qualifiers, prefix, quote, begin + start)


def _of_one_statement(found: list[Lexeme]) -> list[Lexeme]:
    """Returns the tokens after the last semicolon, without comments."""
    first = max((i + 1 for i, lexeme in enumerate(found) if lexeme.word == ";"), default=0)
    return [lexeme for lexeme in found[first:] if lexeme.kind != "comment"]


def _qualifiers(tokens: list[Lexeme], start: int) -> tuple[Part, ...]:
    """Returns the parts of a dotted name that ends at `start`: for `lake.sales.` these are lake and sales."""
    parts: list[Part] = []
    at = len(tokens) - 1
    while at > 0 and tokens[at].word == "." and tokens[at].end == start:
        name = tokens[at - 1]
        if name.kind not in ("word", "quoted") or name.end != tokens[at].start:
            break
        parts.append(Part(name.text, quoted=name.kind == "quoted"))
        start, at = name.start, at - 2
    return tuple(reversed(parts))


def _after(text: str, cursor: int, quote: str) -> tuple[Lexeme, ...]:
    """Returns the tokens of the same statement after the cursor, without the rest of the current word."""
    rest = _REST_OF_STRING if quote == "'" else _REST_OF_QUOTED if quote else _REST_OF_WORD
    found = rest.match(text, cursor)
    start = found.end() if found else cursor
    tokens: list[Lexeme] = []
    for lexeme in lexemes(text[start : start + LONGEST]):
        if lexeme.word == ";":
            break
        if lexeme.kind != "comment":
            tokens.append(lexeme)
    return tuple(tokens)
