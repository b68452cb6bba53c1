"""current_catalog, current_schema, current_user, version() where the tokens use them as values.

A name that is quoted, qualified, an alias or a table is not a session value.
"""

from __future__ import annotations

from typing import Literal

from pinakes.parser.lexer import Token
from pinakes.parser.statements import SessionValue, Span

_Value = Literal["current_catalog", "current_schema", "current_user", "version"]

_VALUES: dict[str, _Value] = {
    "CURRENT_CATALOG": "current_catalog",
    "CURRENT_DATABASE": "current_catalog",
    "CURRENT_SCHEMA": "current_schema",
    "CURRENT_USER": "current_user",
    "SESSION_USER": "current_user",
    "VERSION": "version",
}
WORDS = frozenset(_VALUES)

_BEFORE_EXPRESSION = frozenset(
    "SELECT DISTINCT ALL WHERE AND OR NOT ON HAVING BY WHEN THEN ELSE CASE IN LIKE ILIKE BETWEEN TO ESCAPE LIMIT "
    "OFFSET QUALIFY VALUES IS".split()
)
_AFTER_PROJECTION = frozenset(
    "FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT INTO , )".split()
)
_CLAUSES = frozenset("SELECT FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET VALUES".split())


def session_values(tokens: list[Token]) -> tuple[SessionValue, ...]:
    found: list[SessionValue] = []
    clauses = [""]  # the current clause, for each open parenthesis
    for at, token in enumerate(tokens):
        word = token.word
        if word == "(":
            clauses.append("")
        elif word == ")":
            clauses = clauses[:-1] or [""]
        elif word in _CLAUSES and not (word == "FROM" and _word(tokens, at - 1) == "DISTINCT"):
            clauses[-1] = word
        elif word in _VALUES:
            value = _value(tokens, at, in_projection=clauses[-1] == "SELECT")
            found += [value] if value else []
    return tuple(found)


def _value(tokens: list[Token], at: int, in_projection: bool) -> SessionValue | None:
    token = tokens[at]
    called = _word(tokens, at + 1) == "(" and _word(tokens, at + 2) == ")"
    after = at + 3 if called else at + 1
    if (token.word == "VERSION" and not called) or _word(tokens, after) in (".", "("):
        return None
    if not _expects_expression(tokens, at):
        return None
    before = _word(tokens, at - 1)
    ends = after >= len(tokens) or _word(tokens, after) in _AFTER_PROJECTION
    alone = in_projection and ends and before in ("SELECT", "DISTINCT", "ALL", ",")
    return SessionValue(_VALUES[token.word], Span(token.start, tokens[after - 1].end), alone)


def _expects_expression(tokens: list[Token], at: int) -> bool:
    """Returns whether an expression may begin at `at`: not after a dot, an AS, or the end of another expression."""
    if at == 0:
        return True
    before = tokens[at - 1]
    if before.word == "FROM":
        return _word(tokens, at - 2) == "DISTINCT"
    if before.kind == "word":
        return before.word in _BEFORE_EXPRESSION
    return before.kind == "symbol" and before.word not in (".", ")", "]", "}")


def _word(tokens: list[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""
