"""ALTER TABLE, ALTER VIEW, ALTER SCHEMA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.names import Name
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.alter_actions import actions
from pinakes.parser.grammar.call import argument
from pinakes.parser.grammar.create import NO_SEQUENCES
from pinakes.parser.grammar.namespaces import WORDS as NAMESPACE_WORDS
from pinakes.parser.grammar.namespaces import alter_namespace
from pinakes.parser.grammar.views import alter_view
from pinakes.parser.statements import AlterAction, AlterTable, RenameTable, TableExecute

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement


def alter(cursor: Cursor) -> AnyStatement:
    if cursor.accept("TABLE"):
        return _table(cursor)
    if cursor.accept("VIEW"):
        return alter_view(cursor)
    if cursor.accept_one(*NAMESPACE_WORDS):
        return alter_namespace(cursor)
    if cursor.word == "SEQUENCE":
        raise cursor.unsupported(f"ALTER SEQUENCE {NO_SEQUENCES}")
    if cursor.word in ("FUNCTION", "MACRO"):
        raise cursor.unsupported(f"ALTER {cursor.word} is not supported: write CREATE OR REPLACE {cursor.word}")
    raise cursor.fault("expected TABLE, VIEW or SCHEMA after ALTER")


def _table(cursor: Cursor) -> AnyStatement:
    """ALTER TABLE [IF EXISTS] name RENAME TO name | EXECUTE procedure … | action [, action …]"""
    if_exists = cursor.accept("IF", "EXISTS")
    cursor.accept("ONLY")
    name = cursor.name("the name of a table")
    if cursor.accept("RENAME", "TO"):
        target = Name(cursor.path("the new name"))
        cursor.done()
        return RenameTable(text=cursor.text, shown=cursor.shown, name=name, target=target, if_exists=if_exists)
    if cursor.accept("EXECUTE"):
        return _execute(cursor, name, if_exists=if_exists)
    found: list[AlterAction] = [*actions(cursor)]
    while cursor.accept(","):
        found += actions(cursor)
    cursor.done()
    return AlterTable(text=cursor.text, shown=cursor.shown, name=name, actions=tuple(found), if_exists=if_exists)


def _execute(cursor: Cursor, name: Name, *, if_exists: bool) -> TableExecute:
    """EXECUTE procedure [(name => value, …)] [WHERE condition]"""
    procedure = cursor.part("the name of a procedure")
    arguments = () if cursor.word != "(" or cursor.accept("(", ")") else cursor.listed(argument)
    where = cursor.until(what="a condition") if cursor.accept("WHERE") else None
    cursor.done()
    return TableExecute(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        procedure=procedure,
        arguments=arguments,
        where=where,
        if_exists=if_exists,
    )
