"""INSERT INTO, INSERT OVERWRITE."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.forms.query import STARTS, body
from pinakes.parser.forms.targets import refuse_tail, target
from pinakes.parser.locate import Located
from pinakes.parser.statements import Insert


def insert(cursor: Cursor) -> Insert:
    """INSERT INTO | OVERWRITE [TABLE] target [AS alias] [(columns)] [BY NAME] query | DEFAULT VALUES"""
    if cursor.word == "OR":
        raise cursor.unsupported("INSERT OR … is not supported: use MERGE")
    overwrite = cursor.expect_one("INTO", "OVERWRITE") == "OVERWRITE"
    if overwrite:
        cursor.accept("INTO")
    cursor.accept("TABLE")
    into = target(cursor, alias=cursor.peek(1).word == "AS")
    if cursor.word == "PARTITION":
        raise cursor.unsupported("INSERT … PARTITION is not supported: rows find their partition by themselves")
    columns = cursor.listed(Cursor.part) if _has_columns(cursor) else ()
    by_name = cursor.accept("BY", "NAME")
    if not by_name:
        cursor.accept("BY", "POSITION")
    if cursor.accept("DEFAULT", "VALUES"):
        refuse_tail(cursor)
        cursor.done()
        span, located = None, Located()
    else:
        refuse_tail(cursor)
        span, located = body(cursor)
    return Insert(
        text=cursor.text,
        shown=cursor.shown,
        target=into,
        columns=columns,
        body=span,
        overwrite=overwrite,
        by_name=by_name,
        **located._asdict(),
    )


def _has_columns(cursor: Cursor) -> bool:
    """( begins names of columns unless it begins a query; a column may have the name of a query's first word."""
    if cursor.word != "(":
        return False
    return cursor.peek(1).word not in STARTS or cursor.peek(2).word in (",", ")")
