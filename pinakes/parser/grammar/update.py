"""UPDATE, DELETE, TRUNCATE."""

from __future__ import annotations

from pinakes.parser.changes import Fragments, assignment_spans, leading_span, locate_change
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.returning import returned, take_returning
from pinakes.parser.grammar.targets import assignments, target
from pinakes.parser.statements import Delete, Span, Truncate, Update


def update(cursor: Cursor) -> Update:
    """UPDATE target [AS alias] SET column = expression, … [FROM …] [WHERE …]"""
    tail = take_returning(cursor)
    changed = target(cursor)
    cursor.expect("SET")
    assigned = assignments(cursor, "FROM", "WHERE", "ORDER", "LIMIT")
    source = _clause(cursor, "FROM", "a table to read from")
    where = _clause(cursor, "WHERE", "a condition")
    _end(cursor, "UPDATE")
    leading = leading_span(cursor.leading)
    found = Fragments(changed, assignment_spans(assigned), source, where, leading)
    located = locate_change(cursor.text, cursor.tokens, found)
    return Update(
        text=cursor.text,
        shown=cursor.shown,
        target=changed,
        assignments=assigned,
        source=source,
        where=where,
        returning=tail.counted,
        returned=returned(cursor, tail, changed, other="FROM" if source else ""),
        leading=leading,
        **tail.located(located)._asdict(),
    )


def delete(cursor: Cursor) -> Delete:
    """DELETE FROM target [AS alias] [USING …] [WHERE …]"""
    cursor.expect("FROM")
    tail = take_returning(cursor)
    changed = target(cursor)
    source = _clause(cursor, "USING", "a table to read from")
    where = _clause(cursor, "WHERE", "a condition")
    _end(cursor, "DELETE")
    leading = leading_span(cursor.leading)
    located = locate_change(cursor.text, cursor.tokens, Fragments(changed, [], source, where, leading))
    return Delete(
        text=cursor.text,
        shown=cursor.shown,
        target=changed,
        source=source,
        where=where,
        returning=tail.counted,
        returned=returned(cursor, tail, changed, other="USING" if source else ""),
        leading=leading,
        **tail.located(located)._asdict(),
    )


def truncate(cursor: Cursor) -> Truncate:
    """TRUNCATE [TABLE] name"""
    if cursor.peek(1).kind != "end":
        cursor.accept("TABLE")
    name = cursor.name("the name of a table")
    cursor.done()
    return Truncate(text=cursor.text, shown=cursor.shown, name=name)


def _clause(cursor: Cursor, word: str, what: str) -> Span | None:
    return cursor.until("WHERE", "ORDER", "LIMIT", what=what) if cursor.accept(word) else None


def _end(cursor: Cursor, what: str) -> None:
    if cursor.word in ("ORDER", "LIMIT"):
        raise cursor.unsupported(f"{what} … {cursor.word} is not supported: say which rows in WHERE")
    cursor.done()
