"""INSERT INTO, INSERT OVERWRITE."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.grammar.conflict import take_conflict
from pinakes.parser.grammar.query import STARTS, body
from pinakes.parser.grammar.returning import Tail, returned, take_returning
from pinakes.parser.grammar.targets import target
from pinakes.parser.lexer import Token
from pinakes.parser.locate import Located, locate
from pinakes.parser.statements import Insert, PartitionColumn, Repair, Returning, Span, TableRef


def insert(cursor: Cursor) -> Insert:
    """INSERT INTO | OVERWRITE [TABLE] target [AS alias] [PARTITION (…)] [(columns)] [BY NAME] query | DEFAULT VALUES"""
    if cursor.word == "OR":
        raise cursor.unsupported("INSERT OR … is not supported: use MERGE")
    overwrite = cursor.expect_one("INTO", "OVERWRITE") == "OVERWRITE"
    if overwrite:
        cursor.accept("INTO")
    cursor.accept("TABLE")
    into = target(cursor, alias=cursor.peek(1).word == "AS")
    partition = cursor.listed(_partition_column) if cursor.accept("PARTITION") else ()
    columns = cursor.listed(Cursor.part) if _has_columns(cursor) else ()
    by_name = cursor.accept("BY", "NAME")
    if not by_name:
        cursor.accept("BY", "POSITION")
    tail = take_returning(cursor)
    conflict, marks = take_conflict(cursor, into, tail.all)
    if conflict is not None and (overwrite or partition):
        raise Fault("ON CONFLICT is for INSERT INTO without PARTITION", into.span.start, unsupported=True)
    if cursor.accept("DEFAULT", "VALUES"):
        cursor.done()
        span, head, located = None, None, Located()
    elif cursor.leading:
        span, head, located = _body_after_with(cursor)
    else:
        (span, located), head = body(cursor), None
    return Insert(
        text=cursor.text,
        shown=cursor.shown,
        target=into,
        partition=partition,
        columns=columns,
        body=span,
        head=head,
        conflict=conflict,
        overwrite=overwrite,
        by_name=by_name,
        returning=tail.counted,
        returned=_returned(cursor, tail, into, overwrite=overwrite),
        **tail.located(located._replace(placeholders=(*located.placeholders, *marks)))._asdict(),
    )


def _returned(cursor: Cursor, tail: Tail, into: TableRef, *, overwrite: bool) -> Returning | None:
    if overwrite and tail.tokens:
        raise Fault(
            "INSERT OVERWRITE can only return count(*): SELECT the rows afterwards",
            tail.tokens[0].start,
            unsupported=True,
        )
    return returned(cursor, tail, into)


def _body_after_with(cursor: Cursor) -> tuple[Span, Span, Located]:
    """Returns the query from the WITH before INSERT on, the span of INSERT … in it, which is left out, and what is
    located in it. Two WITH become one.
    """
    if cursor.word not in STARTS:
        raise cursor.fault("expected a query (SELECT, WITH, VALUES, FROM or TABLE)")
    leading, first, instead = cursor.leading, cursor.peek(), list[Token]()
    head = Span(leading[-1].end, first.start)
    if cursor.accept("WITH"):
        if cursor.word == "RECURSIVE" and leading[1].word != "RECURSIVE":
            raise cursor.unsupported("WITH RECURSIVE after INSERT can't follow another WITH: write all in one WITH")
        cursor.accept("RECURSIVE")
        head = Span(head.start, cursor.peek().start)
        instead = [Token("symbol", ",", ",", first.start, first.start)]
    located = locate(cursor.text, [*leading, *instead, *cursor.tokens[cursor.at :]])
    removed = Repair(head, "," if instead else "\n")
    span = Span(leading[0].start, cursor.tokens[-1].end)
    return span, head, located._replace(repairs=(*located.repairs, removed), definitions=())


def _partition_column(cursor: Cursor) -> PartitionColumn:
    """column [= constant]"""
    column = cursor.part("a column that the table is partitioned by")
    if not cursor.accept("="):
        return PartitionColumn(column)
    first = cursor.at
    value = cursor.until(",", ")", what="a constant")
    if any(token.kind == "parameter" for token in cursor.tokens[first : cursor.at]):
        raise cursor.unsupported("a parameter can't stand in PARTITION: give a constant, or the column in the query")
    return PartitionColumn(column, value)


def _has_columns(cursor: Cursor) -> bool:
    """Returns whether ( begins column names, not a query; a column may have the name of a query's first word."""
    if cursor.word != "(":
        return False
    return cursor.peek(1).word not in STARTS or cursor.peek(2).word in (",", ")")
