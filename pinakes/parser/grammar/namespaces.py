"""CREATE, DROP and ALTER of a namespace, also called schema or database."""

from __future__ import annotations

from pinakes.core.names import Name
from pinakes.parser.cursor import Cursor
from pinakes.parser.options import properties, property_keys
from pinakes.parser.statements import AlterNamespace, CreateNamespace, DropNamespace, Properties

WORDS = ("SCHEMA", "NAMESPACE", "DATABASE")
_PROPERTY_WORDS = ("PROPERTIES", "DBPROPERTIES")


def create_namespace(cursor: Cursor) -> CreateNamespace:
    """CREATE SCHEMA [IF NOT EXISTS] name [COMMENT '…'] [LOCATION '…'] [WITH [DBPROPERTIES | PROPERTIES] (…)]"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = Name(cursor.path("a name for the namespace"))
    given: Properties = ()
    while not cursor.ended():
        given += _clause(cursor)
    return CreateNamespace(
        text=cursor.text, shown=cursor.shown, name=name, properties=given, if_not_exists=if_not_exists
    )


def _clause(cursor: Cursor) -> Properties:
    word = cursor.accept_one("COMMENT", "LOCATION")
    if word:
        cursor.accept("=")
        return ((word.lower(), cursor.string()),)
    if cursor.word not in ("WITH", *_PROPERTY_WORDS):
        raise cursor.fault("expected COMMENT, LOCATION, WITH (…) or the end of the statement")
    cursor.accept("WITH")
    cursor.accept_one(*_PROPERTY_WORDS)
    return properties(cursor)


def drop_namespace(cursor: Cursor) -> DropNamespace:
    """DROP SCHEMA [IF EXISTS] name [CASCADE | RESTRICT]"""
    if_exists = cursor.accept("IF", "EXISTS")
    name = Name(cursor.path("the name of a namespace"))
    cascade = cursor.accept_one("CASCADE", "RESTRICT") == "CASCADE"
    cursor.done()
    return DropNamespace(text=cursor.text, shown=cursor.shown, name=name, if_exists=if_exists, cascade=cascade)


def alter_namespace(cursor: Cursor) -> AlterNamespace:
    """ALTER SCHEMA name SET [DB]PROPERTIES (…) | SET LOCATION '…' | UNSET [DB]PROPERTIES (…) | RENAME TO name"""
    name = Name(cursor.path("the name of a namespace"))
    updates: Properties = ()
    removals: tuple[str, ...] = ()
    rename_to: Name | None = None
    if cursor.accept("RENAME", "TO"):
        rename_to = Name(cursor.path("the new name"))
    elif cursor.accept("UNSET"):
        cursor.expect_one(*_PROPERTY_WORDS)
        cursor.accept("IF", "EXISTS")
        removals = property_keys(cursor)
    elif cursor.accept("SET"):
        updates = _updates(cursor)
    else:
        raise cursor.fault("expected SET PROPERTIES (…), UNSET PROPERTIES (…) or RENAME TO")
    cursor.done()
    return AlterNamespace(
        text=cursor.text, shown=cursor.shown, name=name, updates=updates, removals=removals, rename_to=rename_to
    )


def _updates(cursor: Cursor) -> Properties:
    word = cursor.accept_one("LOCATION", "COMMENT")
    if word:
        return ((word.lower(), cursor.string()),)
    cursor.accept_one(*_PROPERTY_WORDS)
    return properties(cursor)
