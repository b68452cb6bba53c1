"""DROP …: selects the grammar by the kind of object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.names import Name
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.attach import drop_catalog
from pinakes.parser.grammar.create import NO_SEQUENCES
from pinakes.parser.grammar.functions import drop_function
from pinakes.parser.grammar.namespaces import WORDS as NAMESPACE_WORDS
from pinakes.parser.grammar.namespaces import drop_namespace
from pinakes.parser.grammar.secrets import drop_secret
from pinakes.parser.statements import DropTable, DropView

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement


def drop(cursor: Cursor) -> AnyStatement:
    temporary = cursor.accept_one("SHARED", "TEMPORARY", "TEMP") in ("TEMPORARY", "TEMP")
    if cursor.accept("TABLE"):
        return _table(cursor, temporary)
    if cursor.accept("VIEW"):
        return _view(cursor, temporary)
    if cursor.word in ("FUNCTION", "MACRO"):
        return drop_function(cursor, temporary)
    if temporary and cursor.word != "SECRET":
        raise cursor.fault("expected TABLE, VIEW or FUNCTION after DROP TEMP")
    if cursor.accept("CATALOG"):
        return drop_catalog(cursor)
    if cursor.accept("SECRET"):
        return drop_secret(cursor)
    if cursor.accept_one(*NAMESPACE_WORDS):
        return drop_namespace(cursor)
    if cursor.word == "SEQUENCE":
        raise cursor.unsupported(f"DROP SEQUENCE {NO_SEQUENCES}")
    raise cursor.fault("expected TABLE, VIEW, FUNCTION, SCHEMA, CATALOG or SECRET after DROP")


def _table(cursor: Cursor, temporary: bool) -> DropTable:
    """DROP [TEMP] TABLE [IF EXISTS] name [PURGE] [CASCADE | RESTRICT]"""
    name, if_exists = _name(cursor, "the name of a table")
    cursor.accept_one("CASCADE", "RESTRICT")
    purge = cursor.accept("PURGE")
    cursor.done()
    return DropTable(
        text=cursor.text, shown=cursor.shown, name=name, temporary=temporary, if_exists=if_exists, purge=purge
    )


def _view(cursor: Cursor, temporary: bool) -> DropView:
    """DROP [TEMP] VIEW [IF EXISTS] name [CASCADE | RESTRICT]"""
    name, if_exists = _name(cursor, "the name of a view")
    cursor.accept_one("CASCADE", "RESTRICT")
    cursor.done()
    return DropView(text=cursor.text, shown=cursor.shown, name=name, temporary=temporary, if_exists=if_exists)


def _name(cursor: Cursor, what: str) -> tuple[Name, bool]:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name(what)
    if cursor.word == ",":
        raise cursor.unsupported("one DROP drops one thing: write a statement for each")
    return name, if_exists
