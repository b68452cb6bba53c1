"""Splits a script into statements with their positions."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.parser.lexer import Token, tokenize_what_fits


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """One statement of a script: its text without the semicolon, its offset and its line, counted from 1."""

    text: str
    offset: int
    line: int


def split(script: str) -> list[ScriptPart]:
    """Returns the statements in order without empty ones. An unclosed token is part of the last one, for which
    `classify` raises the error.
    """
    tokens, fault = tokenize_what_fits(script)
    if fault is not None:
        end = len(script.rstrip())
        tokens.append(Token("end", "", "", fault.offset, max(end, fault.offset)))
    parts: list[ScriptPart] = []
    first: Token | None = None
    last: Token | None = None
    line, counted = 1, 0
    for token in [*tokens, Token("symbol", ";", ";", len(script), len(script))]:
        if token.word != ";":
            first, last = first or token, token
        elif first is not None and last is not None:
            line += script.count("\n", counted, first.start)
            counted = first.start
            parts.append(ScriptPart(script[first.start : last.end], first.start, line))
            first = None
    return parts
