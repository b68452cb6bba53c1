"""SELECT, WITH, VALUES, FROM, TABLE and parentheses: the queries that DataFusion plans."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.locate import Located, locate
from pinakes.parser.statements import Query, Span

STARTS = ("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


def query(cursor: Cursor) -> Query:
    if cursor.word == "WITH":
        _refuse_changes(cursor)
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


def _refuse_changes(cursor: Cursor) -> None:
    """Refuses WITH … INSERT: the WITH must be part of the inserted query."""
    for before, token in zip(cursor.tokens[cursor.at :], cursor.tokens[cursor.at + 1 :], strict=False):
        if before.word == ")" and token.word in _CHANGES:
            hint = f"WITH before {token.word} is not supported: write it in the query, after {token.word} … "
            raise Fault(hint.rstrip(), token.start, unsupported=True)
