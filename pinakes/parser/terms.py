"""Terms of PARTITIONED BY and SORTED BY: a column, or a transform of one; also in Trino's strings, ARRAY['day(ts)']."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pinakes.core.names import Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import tokenize
from pinakes.parser.statements import PartitionTerm, SortTerm

T = TypeVar("T")

_PLURALS = {"years": "year", "months": "month", "days": "day", "hours": "hour", "date": "day", "date_hour": "hour"}


def partition_term(cursor: Cursor) -> PartitionTerm:
    """column | transform(column) | bucket(n, column) | truncate(column, n), with an optional AS name"""
    term = _term(cursor)
    if not cursor.accept("AS"):
        return term
    return PartitionTerm(term.column, term.transform, term.argument, cursor.part().exact)


def _term(cursor: Cursor) -> PartitionTerm:
    path = cursor.path("a column or a transform of one")
    if len(path) > 1 or not cursor.accept("("):
        return PartitionTerm(path)
    transform = path[0].exact
    column: tuple[Part, ...] = ()
    argument: int | None = None
    while cursor.word != ")":
        if cursor.peek().kind == "number" and argument is None:
            argument = cursor.integer()
        elif not column:
            column = cursor.path("a column")
        else:
            raise cursor.fault("expected )")
        if cursor.word != ")":
            cursor.expect(",")
    if not column:
        raise cursor.fault(f"{transform} needs a column")
    cursor.expect(")")
    return PartitionTerm(column, _PLURALS.get(transform, transform), argument)


def sort_term(cursor: Cursor) -> SortTerm:
    """term [ASC | DESC] [NULLS FIRST | LAST]"""
    term = _term(cursor)
    descending = cursor.accept_one("ASC", "DESC") == "DESC"
    nulls_first: bool | None = None
    if cursor.accept("NULLS"):
        nulls_first = cursor.expect_one("FIRST", "LAST") == "FIRST"
    return SortTerm(term, descending, nulls_first)


def terms_in_strings(cursor: Cursor, item: Callable[[Cursor], T]) -> tuple[T, ...]:
    """ARRAY['day(ts)', 'x'], each string a separate term; or a single string"""
    if cursor.peek().kind == "string":
        return (_in_string(cursor, item),)
    cursor.accept("ARRAY")
    opening = cursor.expect_one("[", "(")
    closing = "]" if opening == "[" else ")"
    found: list[T] = []
    while cursor.word != closing:
        found.append(_in_string(cursor, item))
        if cursor.word != closing:
            cursor.expect(",")
    cursor.expect(closing)
    return tuple(found)


def _in_string(cursor: Cursor, item: Callable[[Cursor], T]) -> T:
    token = cursor.peek()
    text = cursor.string("a term in single quotes")
    try:
        inner = Cursor(text, tokenize(text))
        found = item(inner)
        inner.done()
    except Fault as fault:
        raise Fault(fault.message, token.start, found=fault.found) from fault
    return found
