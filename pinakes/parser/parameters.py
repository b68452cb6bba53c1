"""Placeholders among the tokens: `?`, `$1`, `$name`, `:name`, but not the colon of a struct, a slice or a JSON path."""

from __future__ import annotations

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Placeholder, Span

_ENDS_EXPRESSION = frozenset({")", "]", "}"})


def join_named(tokens: list[Token]) -> list[Token]:
    """Returns the tokens with each `:name` as one parameter."""
    if not any(token.word == ":" for token in tokens):
        return tokens
    joined: list[Token] = []
    separates: list[bool] = []  # for each open bracket: may a colon in it separate (a slice, a struct)?
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.word in ("(", "[", "{"):
            separates.append(token.word == "{" or (token.word == "[" and at > 0 and _ends_expression(tokens[at - 1])))
        elif token.word in _ENDS_EXPRESSION and separates:
            separates.pop()
        elif token.word == ":" and _names_parameter(tokens, at, bool(separates) and separates[-1]):
            name = tokens[at + 1]
            token = Token("parameter", ":" + name.text, "", token.start, name.end)
            at += 1
        joined.append(token)
        at += 1
    return joined


def placeholders(tokens: list[Token]) -> tuple[Placeholder, ...]:
    """Returns all placeholders in order; each `?` has its ordinal as name."""
    found: list[Placeholder] = []
    marks = 0
    for token in tokens:
        if token.kind != "parameter":
            continue
        if token.text == "?":
            marks += 1
        name = str(marks) if token.text == "?" else token.text[1:]
        found.append(Placeholder(name, Span(token.start, token.end)))
    return tuple(found)


def _ends_expression(token: Token) -> bool:
    return token.kind != "symbol" or token.word in _ENDS_EXPRESSION


def _names_parameter(tokens: list[Token], at: int, separates: bool) -> bool:
    """Returns whether the colon at `at` begins `:name`: a word follows directly, and no expression ends directly
    before it.
    """
    colon = tokens[at]
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.kind != "word" or after.start != colon.end:
        return False
    before = tokens[at - 1] if at else None
    if before is None:
        return True
    if before.kind == "word":  # LIMIT :n has a space before the colon, the JSON path doc:field has none
        return before.end < colon.start and not separates
    return not _ends_expression(before) and not (separates and before.word == "[")
