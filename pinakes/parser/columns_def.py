"""Definitions of columns: name, type, NOT NULL, DEFAULT, COMMENT, PRIMARY KEY, CHECK."""

from __future__ import annotations

from typing import NamedTuple

from pinakes.core.names import Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import Check, ColumnDef, Span
from pinakes.parser.types import read_type

_REFUSED = ("UNIQUE", "REFERENCES", "FOREIGN", "GENERATED", "COLLATE", "AUTO_INCREMENT", "AUTOINCREMENT")
_AFTER_DEFAULT = ("NOT", "NULL", "COMMENT", "PRIMARY", "CONSTRAINT", "CHECK", "FIRST", "AFTER", ",", *_REFUSED)


class DefinedColumn(NamedTuple):
    column: ColumnDef
    primary_key: bool


def column_def(cursor: Cursor) -> DefinedColumn:
    return column_rest(cursor, cursor.part("the name of a column"))


def column_rest(cursor: Cursor, name: Part) -> DefinedColumn:
    """type [NOT NULL | NULL] [DEFAULT expression] [COMMENT '…'] [PRIMARY KEY] [[CONSTRAINT c] CHECK (…)], in any
    order"""
    kind = read_type(cursor)
    nullable, key = True, False
    default: Span | None = None
    comment: str | None = None
    checks: list[Check] = []
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
        elif found := check_constraint(cursor, name):
            checks.append(found)
        else:
            raise _refused(cursor)
    return DefinedColumn(ColumnDef(name, kind, nullable, default, comment, tuple(checks)), key)


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


def check_constraint(cursor: Cursor, column: Part | None = None) -> Check | None:
    """[CONSTRAINT name] CHECK (condition) [ENFORCED] [NO INHERIT], or None if something else follows."""
    is_named = (
        cursor.sees("CONSTRAINT") and cursor.peek(1).kind in ("word", "quoted") and cursor.peek(2).word == "CHECK"
    )
    if not is_named and not cursor.sees("CHECK", "("):
        return None
    name: Part | None = None
    if is_named:
        cursor.take()
        name = cursor.part()
    cursor.expect("CHECK")
    first = cursor.at
    cursor.skip_group()
    if cursor.at - first < 3:
        raise cursor.fault("expected a condition in the brackets of CHECK")
    inner = Span(cursor.tokens[first + 1].start, cursor.tokens[cursor.at - 2].end)
    if cursor.sees("NOT", "ENFORCED") or cursor.sees("NOT", "VALID"):
        raise cursor.unsupported(f"CHECK … NOT {cursor.peek(1).word} is not supported: every CHECK is enforced")
    cursor.accept("ENFORCED")
    cursor.accept("NO", "INHERIT")
    return Check(inner, name, column)


def table_constraint(cursor: Cursor) -> Check | tuple[Part, ...] | None:
    """[CONSTRAINT name] PRIMARY KEY (a, b) | CHECK (condition), or None if a column follows."""
    check = check_constraint(cursor)
    if check is not None:
        return check
    if cursor.sees("CONSTRAINT") and cursor.peek(1).kind in ("word", "quoted"):
        cursor.take()
        cursor.part()
        if not cursor.sees("PRIMARY", "KEY"):
            raise _refused(cursor)
    if cursor.accept("PRIMARY", "KEY"):
        key = cursor.listed(Cursor.part)
        cursor.accept("NOT", "ENFORCED")
        return key
    if (cursor.word == "UNIQUE" and cursor.peek(1).word == "(") or cursor.sees("FOREIGN", "KEY"):
        raise _refused(cursor)
    return None


def _refused(cursor: Cursor) -> Exception:
    word = cursor.word
    if word in _REFUSED:
        name = "FOREIGN KEY" if word == "FOREIGN" else word
        return cursor.unsupported(
            f"{name} is not supported: a column may be NOT NULL, and have a CHECK, a DEFAULT and a COMMENT"
        )
    return cursor.fault("expected NOT NULL, DEFAULT, COMMENT, CHECK, PRIMARY KEY, or the next column")
