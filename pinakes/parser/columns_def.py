"""Definitions of columns: name, type, NOT NULL, DEFAULT, COMMENT, PRIMARY KEY."""

from __future__ import annotations

from typing import NamedTuple

from pinakes.core.names import Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import ColumnDef, Span
from pinakes.parser.types import read_type

_REFUSED = ("UNIQUE", "CHECK", "REFERENCES", "FOREIGN", "GENERATED", "COLLATE", "AUTO_INCREMENT", "AUTOINCREMENT")
_AFTER_DEFAULT = ("NOT", "NULL", "COMMENT", "PRIMARY", "CONSTRAINT", "FIRST", "AFTER", ",", *_REFUSED)


class DefinedColumn(NamedTuple):
    column: ColumnDef
    primary_key: bool


def column_def(cursor: Cursor) -> DefinedColumn:
    return column_rest(cursor, cursor.part("the name of a column"))


def column_rest(cursor: Cursor, name: Part) -> DefinedColumn:
    """type [NOT NULL | NULL] [DEFAULT expression] [COMMENT '…'] [PRIMARY KEY], in any order"""
    kind = read_type(cursor)
    nullable, key = True, False
    default: Span | None = None
    comment: str | None = None
    while cursor.word not in (",", ")", "FIRST", "AFTER") and not cursor.ended():
        if cursor.accept("NOT", "NULL"):
            nullable = False
        elif cursor.accept("NULL"):
            nullable = True
        elif cursor.accept("DEFAULT"):
            default = default_value(cursor)
        elif cursor.accept("COMMENT"):
            comment = cursor.string("a comment in single quotes")
        elif cursor.accept("PRIMARY", "KEY"):
            key, nullable = True, False
        else:
            raise _refused(cursor)
    return DefinedColumn(ColumnDef(name, kind, nullable, default, comment), key)


def default_value(cursor: Cursor) -> Span:
    first = cursor.at
    if cursor.ended() or cursor.word in (",", ")"):
        raise cursor.fault("expected a value after DEFAULT")
    if cursor.word == "(":
        cursor.skip_group()
    else:
        cursor.take()
    cursor.skip_until(*_AFTER_DEFAULT)
    return cursor.span_from(first)


def table_constraint(cursor: Cursor) -> tuple[Part, ...] | None:
    """[CONSTRAINT name] PRIMARY KEY (a, b), or None if a column follows."""
    if cursor.sees("CONSTRAINT") and cursor.peek(1).kind in ("word", "quoted"):
        cursor.take()
        cursor.part()
        if not cursor.sees("PRIMARY", "KEY"):
            raise _refused(cursor)
    if cursor.accept("PRIMARY", "KEY"):
        key = cursor.listed(Cursor.part)
        cursor.accept("NOT", "ENFORCED")
        return key
    if (cursor.word in ("UNIQUE", "CHECK") and cursor.peek(1).word == "(") or cursor.sees("FOREIGN", "KEY"):
        raise _refused(cursor)
    return None


def _refused(cursor: Cursor) -> Exception:
    word = cursor.word
    if word in _REFUSED:
        name = "FOREIGN KEY" if word == "FOREIGN" else word
        return cursor.unsupported(f"{name} is not supported: a column may be NOT NULL and have a DEFAULT and a COMMENT")
    return cursor.fault("expected NOT NULL, DEFAULT, COMMENT, PRIMARY KEY, or the next column")
