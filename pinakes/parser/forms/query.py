"""SELECT, WITH, VALUES, FROM, TABLE and parentheses: whatever DataFusion plans as a query."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.locate import Located, locate
from pinakes.parser.statements import Query, Span

STARTS = ("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


def query(cursor: Cursor) -> Query:
    _, located = body(cursor)
    return Query(text=cursor.text, shown=cursor.shown, **located._asdict())


def body(cursor: Cursor, end: int | None = None) -> tuple[Span, Located]:
    """The query from here to `end` (an index of a token), or to the end of the statement."""
    if cursor.word not in STARTS:
        raise cursor.fault("expected a query (SELECT, WITH, VALUES, FROM or TABLE)")
    tokens = cursor.tokens[cursor.at : end]
    span = Span(tokens[0].start, tokens[-1].end)
    cursor.at += len(tokens)
    return span, locate(cursor.text, tokens)
