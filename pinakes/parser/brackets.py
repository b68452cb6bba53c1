"""Checks that brackets match and limits their nesting before any recursive parsing, so that depth can't overflow
the stack.
"""

from __future__ import annotations

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token

DEEPEST = 200
DEEPEST_QUERIES = 20
"""The limit of nested subqueries: each one, except those in FROM, doubles DataFusion's planning time."""

_CLOSES = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("()[]{}")
_QUERIES = frozenset({"SELECT", "WITH", "FROM", "TABLE", "VALUES"})
_SOURCES = frozenset({"FROM", "JOIN", "LATERAL", "("})


def check_brackets(tokens: list[Token]) -> None:
    """Raises a Fault at the first unmatched bracket, and where nesting is too deep."""
    stack: list[Token] = []
    queries = 0
    for token in tokens:
        if token.word not in _BRACKETS:
            queries += token.word in _QUERIES
            continue
        opening = _CLOSES.get(token.word)
        if opening is None:
            stack.append(token)
            if len(stack) > DEEPEST:
                raise Fault(f"brackets are nested more than {DEEPEST} deep", token.start)
        elif not stack or stack.pop().word != opening:
            raise Fault(f"{token.word} closes nothing", token.start)
    if stack:
        raise Fault(f"{stack[-1].word} is never closed", stack[-1].start)
    if queries > DEEPEST_QUERIES:
        _check_queries(tokens)


def _check_queries(tokens: list[Token]) -> None:
    opened: list[bool] = []
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.word in _CLOSES:
            opened.pop()
        elif token.word in _BRACKETS:
            is_query = after is not None and after.word in _QUERIES
            opened.append(is_query and (before is None or before.word not in _SOURCES))
            if opened[-1] and sum(opened) > DEEPEST_QUERIES:
                message = f"subqueries are nested more than {DEEPEST_QUERIES} deep: write them after each other in WITH"
                raise Fault(message, token.start, unsupported=True)
