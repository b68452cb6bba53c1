"""CALL, KILL."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import Argument, Call, Kill


def call(cursor: Cursor) -> Call:
    """CALL procedure(a, name => b)"""
    procedure = cursor.name("the name of a procedure")
    arguments = () if cursor.accept("(", ")") else cursor.listed(argument)
    cursor.done()
    return Call(text=cursor.text, shown=cursor.shown, procedure=procedure, arguments=arguments)


def argument(cursor: Cursor) -> Argument:
    name: str | None = None
    if cursor.peek(1).word in ("=>", ":="):
        name = cursor.part("the name of a parameter").exact
        cursor.take()
    return Argument(name, cursor.until(",", ")", what="a value"))


def kill(cursor: Cursor) -> Kill:
    """KILL [QUERY] 'id'"""
    if cursor.peek(1).kind != "end":
        cursor.accept("QUERY")
    first = cursor.peek()
    if cursor.ended():
        raise cursor.fault("expected the id of a query")
    query_id = cursor.take().text if first.kind in ("string", "quoted") else cursor.until(what="an id").of(cursor.text)
    cursor.done()
    return Kill(text=cursor.text, shown=cursor.shown, query_id=query_id)
