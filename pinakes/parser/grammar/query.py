"""SELECT, WITH, VALUES, FROM, TABLE and parentheses: the queries that DataFusion plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.locate import Located, locate
from pinakes.parser.statements import Query, Span

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

STARTS = ("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


def query(cursor: Cursor) -> AnyStatement:
    if cursor.word == "WITH":
        change = _change(cursor)
        if change is not None:
            return _after_with(cursor, change)
    _, located = body(cursor)
    return Query(text=cursor.text, shown=cursor.shown, **located._asdict())


def body(cursor: Cursor, end: int | None = None) -> tuple[Span, Located]:
    """Locates the query from here to `end` (the index of a token), or to the end of the statement."""
    tokens = cursor.tokens[cursor.at : end]
    if cursor.word not in STARTS or not tokens:
        raise cursor.fault("expected a query (SELECT, WITH, VALUES, FROM or TABLE)")
    span = Span(tokens[0].start, tokens[-1].end)
    cursor.at += len(tokens)
    return span, locate(cursor.text, tokens)


def _change(cursor: Cursor) -> int | None:
    """Returns the index of the INSERT, UPDATE, DELETE or MERGE that follows the WITH."""
    nested = 0
    for at in range(cursor.at + 1, len(cursor.tokens)):
        token, before = cursor.tokens[at], cursor.tokens[at - 1].word
        if token.word in _CHANGES and before == ")" and nested == 0:
            return at
        if token.word in _CHANGES and before == "(" and cursor.tokens[at - 2].word in ("AS", "MATERIALIZED"):
            raise Fault(
                f"{token.word} can't stand in WITH: run it as a statement of its own, with RETURNING for its rows",
                token.start,
                unsupported=True,
            )
        nested += (token.word == "(") - (token.word == ")")
    return None


def _after_with(cursor: Cursor, at: int) -> AnyStatement:
    """WITH … INSERT | UPDATE | DELETE | MERGE …"""
    from pinakes.parser.dispatch import form_of

    cursor.leading = cursor.tokens[cursor.at : at]
    cursor.at = at
    return form_of(cursor.take().word)(cursor)
