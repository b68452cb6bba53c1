"""Parses column types, also nested: DECIMAL(10, 2), x[], MAP(k, v), STRUCT<a: INT, b INT>."""

from __future__ import annotations

from pinakes.core.types.syntax import SqlField, SqlType
from pinakes.parser.cursor import Cursor

DEEPEST = 100

_LISTS = ("ARRAY", "LIST")
_STRUCTS = ("STRUCT", "ROW")


def read_type(cursor: Cursor, depth: int = 0) -> SqlType:
    """Parses one type; unknown names are passed on in upper case."""
    if depth > DEEPEST:
        raise cursor.fault(f"types are nested more than {DEEPEST} deep")
    if cursor.peek().kind not in ("word", "quoted"):
        raise cursor.fault("expected a type")
    name = cursor.take().text.upper()
    if name in _LISTS and cursor.word in ("<", "("):
        found = SqlType("ARRAY", items=_items(cursor, 1, depth))
    elif name == "MAP" and cursor.word in ("<", "("):
        found = SqlType("MAP", items=_items(cursor, 2, depth))
    elif name in _STRUCTS and cursor.word in ("<", "("):
        found = SqlType("STRUCT", fields=_fields(cursor, depth))
    else:
        found = _plain(cursor, name)
    return _in_lists(cursor, found)


def _plain(cursor: Cursor, name: str) -> SqlType:
    if name == "DOUBLE" and cursor.accept("PRECISION"):
        name = "DOUBLE"
    if name in ("CHARACTER", "CHAR", "NATIONAL") and cursor.accept("VARYING"):
        name = "VARCHAR"
    if name == "ENUM" and cursor.word == "(":  # refused by name, wherever types are looked up
        cursor.listed(Cursor.string)
        return SqlType(name, ())
    params = cursor.listed(Cursor.integer) if cursor.word == "(" else ()
    if name in ("TIME", "TIMESTAMP"):
        name += _zone(cursor)
    if cursor.accept("UNSIGNED"):
        name += " UNSIGNED"
    return SqlType(name, params)


def _zone(cursor: Cursor) -> str:
    """TIMESTAMP WITHOUT TIME ZONE is TIMESTAMP itself."""
    if cursor.accept("WITH", "LOCAL", "TIME", "ZONE") or cursor.accept("WITH", "TIME", "ZONE"):
        return " WITH TIME ZONE"
    cursor.accept("WITHOUT", "TIME", "ZONE")
    return ""


def _items(cursor: Cursor, count: int, depth: int) -> tuple[SqlType, ...]:
    close = _open(cursor)
    items = [read_type(cursor, depth + 1)]
    while len(items) < count:
        cursor.expect(",")
        items.append(read_type(cursor, depth + 1))
    cursor.expect(close)
    return tuple(items)


def _fields(cursor: Cursor, depth: int) -> tuple[SqlField, ...]:
    close = _open(cursor)
    fields: list[SqlField] = []
    while cursor.word != close:
        if fields:
            cursor.expect(",")
        fields.append(_field(cursor, depth))
    cursor.expect(close)
    if not fields:
        raise cursor.fault("a struct needs at least one field")
    return tuple(fields)


def _field(cursor: Cursor, depth: int) -> SqlField:
    """name: type | name type, [NOT NULL] [COMMENT '…']"""
    name = cursor.part("the name of a field")
    cursor.accept(":")
    kind = read_type(cursor, depth + 1)
    nullable = not cursor.accept("NOT", "NULL")
    cursor.accept("NULL")
    comment = cursor.string() if cursor.accept("COMMENT") else None
    return SqlField(name.exact, kind, nullable, comment)


def _open(cursor: Cursor) -> str:
    return ">" if cursor.expect_one("<", "(") == "<" else ")"


def _in_lists(cursor: Cursor, item: SqlType) -> SqlType:
    """x[], x[3], x ARRAY"""
    depth = 0
    while cursor.word == "[" or cursor.sees("ARRAY"):
        if cursor.accept("["):
            if cursor.word != "]":
                cursor.integer("a length or ]")
            cursor.expect("]")
        else:
            cursor.take()
        item = SqlType("ARRAY", items=(item,))
        depth += 1
        if depth > DEEPEST:
            raise cursor.fault(f"types are nested more than {DEEPEST} deep")
    return item
