"""Extracts [FOR] VERSION | TIMESTAMP | SYSTEM_VERSION | SYSTEM_TIME AS OF operand from the tokens.

sqlglot supports only some of the spellings, so the clauses are removed for it: `locate.py` attaches each to the table
before it.
"""

from __future__ import annotations

from typing import Literal

from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import AsOf, Span

_KINDS: dict[str, Literal["version", "timestamp"]] = {
    "VERSION": "version",
    "SYSTEM_VERSION": "version",
    "TIMESTAMP": "timestamp",
    "SYSTEM_TIME": "timestamp",
}
_NO_OPERAND = frozenset("FROM WHERE JOIN ON GROUP ORDER LIMIT UNION HAVING , ) . =".split())
_TYPED_LITERALS = frozenset({"TIMESTAMP", "TIMESTAMPTZ", "DATE", "INTERVAL"})


def take_out(text: str, tokens: list[Token]) -> tuple[list[Token], list[AsOf]]:
    """Returns the tokens without their AS OF clauses, and the clauses in order."""
    kept: list[Token] = []
    found: list[AsOf] = []
    cursor = Cursor(text, tokens)
    while not cursor.ended():
        clause = read_clause(cursor)
        if clause is None:
            kept.append(cursor.take())
        else:
            found.append(clause)
    return kept, found


def read_clause(cursor: Cursor) -> AsOf | None:
    """Parses the clause that begins here; None if there is none."""
    first = cursor.at
    with_for = cursor.word == "FOR"
    kind = _KINDS.get(cursor.peek(1 if with_for else 0).word)
    if kind is None or not (with_for or _follows_name(cursor)):
        return None
    ahead = 2 if with_for else 1
    if cursor.peek(ahead).word != "AS" or cursor.peek(ahead + 1).word != "OF":
        return None
    operand = cursor.peek(ahead + 2)
    if not with_for and (operand.word in _NO_OPERAND or operand.kind == "end"):
        return None  # a column called version, with the alias "of"
    cursor.at += ahead + 2
    value = _operand(cursor)
    return AsOf(kind, value, Span(cursor.tokens[first].start, value.end))


def _follows_name(cursor: Cursor) -> bool:
    if cursor.at == 0:
        return False
    before = cursor.tokens[cursor.at - 1]
    return before.kind in ("quoted", "string") or (before.kind == "word" and before.word not in ("SELECT", "DISTINCT"))


def _operand(cursor: Cursor) -> Span:
    """Parses one value, or values joined by + and -, with casts and AT TIME ZONE."""
    first = cursor.at
    _primary(cursor)
    while True:
        if cursor.accept_one("+", "-"):
            _primary(cursor)
        elif cursor.accept("::"):
            cursor.part("a type")
            if cursor.word == "(":
                cursor.skip_group()
        elif cursor.accept("AT", "TIME", "ZONE"):
            _primary(cursor)
        else:
            return cursor.span_from(first)


def _primary(cursor: Cursor) -> None:
    cursor.accept("-")
    token = cursor.peek()
    if token.word == "(":
        cursor.skip_group()
    elif token.kind in ("string", "number", "parameter"):
        cursor.take()
    elif token.kind in ("word", "quoted") and token.word not in _NO_OPERAND:
        _named(cursor)
    else:
        raise Fault("expected a version or a time after AS OF", token.start)


def _named(cursor: Cursor) -> None:
    """Parses a function call, a typed literal (DATE '…', INTERVAL '1' DAY) or a bare name of a version."""
    word = cursor.word
    cursor.path()
    if cursor.word == "(":
        cursor.skip_group()
    elif word in _TYPED_LITERALS and cursor.peek().kind in ("string", "number"):
        cursor.take()
        if word == "INTERVAL":
            cursor.accept_one("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
