"""ATTACH, DETACH, CREATE CATALOG, DROP CATALOG. Values of options never show."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.options import hide, literal, options
from pinakes.parser.redaction import harmless
from pinakes.parser.statements import Attach, CreateCatalog, Detach, DropCatalog, Option


def attach(cursor: Cursor) -> Attach:
    """ATTACH [OR REPLACE] [DATABASE] [IF NOT EXISTS] 'location' [AS name] [(TYPE t, KEY value, …)]"""
    or_replace = cursor.accept("OR", "REPLACE")
    cursor.accept_one("DATABASE", "CATALOG")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    first = cursor.at
    location = cursor.string("a location in single quotes")
    hide(cursor, cursor.span_from(first), harmless=True)
    name = cursor.part("a name for the catalog") if cursor.accept("AS") else None
    given = options(cursor, shown=harmless) if cursor.accept("WITH") or cursor.word == "(" else ()
    cursor.done()
    return Attach(
        text=cursor.text,
        shown=cursor.shown,
        location=location,
        name=name,
        options=given,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
    )


def detach(cursor: Cursor) -> Detach:
    """DETACH [DATABASE | CATALOG] [IF EXISTS] name"""
    if cursor.peek(1).kind != "end":
        cursor.accept_one("DATABASE", "CATALOG")
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.part("the name of a catalog")
    cursor.done()
    return Detach(text=cursor.text, shown=cursor.shown, name=name, if_exists=if_exists)


def create_catalog(cursor: Cursor, or_replace: bool) -> CreateCatalog:
    """CREATE [OR REPLACE] CATALOG [IF NOT EXISTS] name (TYPE t, …) | USING type [WITH (…)]"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.part("a name for the catalog")
    given: tuple[Option, ...] = ()
    if cursor.accept("USING"):
        given = (Option("TYPE", literal(cursor)),)
    if cursor.accept("WITH") or cursor.word == "(":
        given += options(cursor, shown=harmless)
    cursor.done()
    return CreateCatalog(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        options=given,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
    )


def drop_catalog(cursor: Cursor) -> DropCatalog:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.part("the name of a catalog")
    cursor.accept_one("CASCADE", "RESTRICT")
    cursor.done()
    return DropCatalog(text=cursor.text, shown=cursor.shown, name=name, if_exists=if_exists)
