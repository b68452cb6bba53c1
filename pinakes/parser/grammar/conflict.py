"""ON CONFLICT, after the query of INSERT."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.names import Part
from pinakes.parser.changes import Fragments, assignment_spans, locate_change
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.grammar.targets import assignments
from pinakes.parser.lexer import Token
from pinakes.parser.parameters import join_named, placeholders
from pinakes.parser.statements import Assignment, Conflict, Placeholder, Span, TableRef


def take_conflict(
    cursor: Cursor, target: TableRef, everything: Sequence[Token]
) -> tuple[Conflict | None, tuple[Placeholder, ...]]:
    """Removes ON CONFLICT … from the end of the tokens, and returns it with its parameters. `everything` has the
    tokens of the whole statement, if some were removed already.
    """
    at = _place(cursor)
    if at is None:
        return None, ()
    tokens = list(everything) or list(cursor.tokens)
    mine = cursor.tokens[at:]
    del cursor.tokens[at:]
    nested = next((token for token in mine if token.word == "SELECT"), None)
    if nested is not None:
        raise Fault("a query can't stand in ON CONFLICT: use MERGE", nested.start, unsupported=True)
    columns, assigned, where = _clause(Cursor(cursor.text, mine))
    start, end = mine[0].start, mine[-1].end
    marks = tuple(p for p in placeholders(join_named(tokens)) if start <= p.span.start < end)
    found = Fragments(target, assignment_spans(assigned), None, where)
    located = locate_change(cursor.text, tokens, found)._replace(placeholders=marks)
    conflict = Conflict(
        text=cursor.text,
        shown=cursor.shown,
        columns=columns,
        assignments=assigned,
        where=where,
        **located._asdict(),
    )
    return conflict, marks


def _clause(cursor: Cursor) -> tuple[tuple[Part, ...], tuple[Assignment, ...], Span | None]:
    """ON CONFLICT [(columns)] DO NOTHING | DO UPDATE SET … [WHERE …]"""
    cursor.expect("ON", "CONFLICT")
    if cursor.word in ("ON", "WHERE"):
        raise cursor.unsupported("ON CONFLICT takes the names of the key columns in parentheses")
    columns = cursor.listed(Cursor.part) if cursor.word == "(" else ()
    if cursor.word == "WHERE":
        raise cursor.unsupported("ON CONFLICT (…) WHERE is not supported: write WHERE after DO UPDATE SET …")
    cursor.expect("DO")
    assigned: tuple[Assignment, ...] = ()
    where = None
    if cursor.expect_one("NOTHING", "UPDATE") == "UPDATE":
        cursor.expect("SET")
        assigned = assignments(cursor, "WHERE")
        where = cursor.until(what="a condition") if cursor.accept("WHERE") else None
    cursor.done()
    return columns, assigned, where


def _place(cursor: Cursor) -> int | None:
    nested = 0
    for at in range(cursor.at, len(cursor.tokens) - 1):
        word = cursor.tokens[at].word
        nested += (word == "(") - (word == ")")
        if nested == 0 and word == "ON" and cursor.tokens[at + 1].word == "CONFLICT":
            return at
    return None
