"""CREATE VIEW, ALTER VIEW."""

from __future__ import annotations

from pinakes.core.names import Name, Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.query import body
from pinakes.parser.locate import Located
from pinakes.parser.options import properties, property_keys
from pinakes.parser.statements import AlterView, CreateView, Properties, Span

_PROPERTY_WORDS = ("TBLPROPERTIES", "PROPERTIES")


def create_view(cursor: Cursor, or_replace: bool, temporary: bool) -> CreateView:
    """CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT '…'] [WITH (…)] AS query"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name("a name for the view")
    columns = cursor.listed(_column) if cursor.word == "(" else ()
    comment: str | None = None
    given: Properties = ()
    while cursor.word != "AS":
        if cursor.accept("COMMENT"):
            cursor.accept("=")
            comment = cursor.string("a comment in single quotes")
        else:
            given += _clause(cursor)
    cursor.expect("AS")
    span, located = body(cursor)
    return CreateView(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        body=span,
        columns=columns,
        comment=comment,
        properties=given,
        temporary=temporary,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
        **located._asdict(),
    )


def _column(cursor: Cursor) -> tuple[Part, str | None]:
    name = cursor.part("the name of a column")
    return name, cursor.string("a comment in single quotes") if cursor.accept("COMMENT") else None


def _clause(cursor: Cursor) -> Properties:
    if cursor.accept("SECURITY"):
        raise cursor.unsupported("a view's SECURITY clause is not supported: views read with the rights of who asks")
    if cursor.word not in ("WITH", *_PROPERTY_WORDS):
        raise cursor.fault("expected AS and a query")
    cursor.accept("WITH")
    cursor.accept_one(*_PROPERTY_WORDS)
    return properties(cursor)


def alter_view(cursor: Cursor) -> AlterView:
    """ALTER VIEW [IF EXISTS] name RENAME TO name | AS query | SET TBLPROPERTIES (…) | UNSET TBLPROPERTIES (…)"""
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name("the name of a view")
    rename_to: Name | None = None
    span: Span | None = None
    located = Located()
    updates: Properties = ()
    removals: tuple[str, ...] = ()
    if cursor.accept("RENAME", "TO"):
        rename_to = Name(cursor.path("the new name"))
    elif cursor.accept("AS"):
        span, located = body(cursor)
    elif cursor.accept("SET"):
        cursor.accept_one(*_PROPERTY_WORDS)
        updates = properties(cursor)
    elif cursor.accept("UNSET"):
        cursor.accept_one(*_PROPERTY_WORDS)
        cursor.accept("IF", "EXISTS")
        removals = property_keys(cursor)
    else:
        raise cursor.fault("expected RENAME TO, AS, SET TBLPROPERTIES or UNSET TBLPROPERTIES")
    cursor.done()
    return AlterView(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        if_exists=if_exists,
        rename_to=rename_to,
        body=span,
        updates=updates,
        removals=removals,
        **located._asdict(),
    )
