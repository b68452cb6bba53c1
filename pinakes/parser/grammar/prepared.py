"""PREPARE, EXECUTE, DEALLOCATE."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import Deallocate, Execute, Prepare, Span


def prepare(cursor: Cursor) -> Prepare:
    """PREPARE name [(types)] AS | FROM statement; the statement is read here, so that its errors come now"""
    from pinakes.parser.dispatch import statement

    name = cursor.part("a name for the statement")
    if cursor.word == "(":
        cursor.skip_group()
    cursor.expect_one("AS", "FROM")
    if cursor.ended():
        raise cursor.fault("expected a statement")
    if cursor.word in ("PREPARE", "EXECUTE", "DEALLOCATE"):
        raise cursor.fault(f"{cursor.word} can't be prepared")
    span = Span(cursor.peek().start, cursor.tokens[-1].end)
    statement(cursor)
    return Prepare(text=cursor.text, shown=cursor.shown, name=name, body=span)


def execute(cursor: Cursor) -> Execute:
    """EXECUTE name [(a, b) | USING a, b]"""
    if cursor.sees("IMMEDIATE") and cursor.peek(1).kind != "end":
        raise cursor.unsupported("EXECUTE IMMEDIATE is not supported: send the statement itself")
    name = cursor.part("the name of a prepared statement")
    arguments: tuple[Span, ...] = ()
    if cursor.accept("USING"):
        found = [_argument(cursor)]
        while cursor.accept(","):
            found.append(_argument(cursor))
        arguments = tuple(found)
    elif cursor.word == "(" and not cursor.accept("(", ")"):
        arguments = cursor.listed(_argument)
    cursor.done()
    return Execute(text=cursor.text, shown=cursor.shown, name=name, arguments=arguments)


def _argument(cursor: Cursor) -> Span:
    return cursor.until(",", ")", what="a value")


def deallocate(cursor: Cursor) -> Deallocate:
    """DEALLOCATE [PREPARE] name | ALL"""
    if cursor.peek(1).kind != "end":
        cursor.accept("PREPARE")
    name = None if cursor.accept("ALL") else cursor.part("the name of a prepared statement")
    cursor.done()
    return Deallocate(text=cursor.text, shown=cursor.shown, name=name)
