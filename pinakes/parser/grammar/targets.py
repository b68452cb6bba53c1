"""Grammar shared by INSERT, UPDATE, DELETE and MERGE: the target table, and refused clauses."""

from __future__ import annotations

from dataclasses import replace

from pinakes.core.names import Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.statements import Assignment, TableRef

_NOT_ALIASES = frozenset(
    {"SET", "USING", "WHERE", "FROM", "ON", "WHEN", "RETURNING", "VALUES", "SELECT", "WITH", "DEFAULT", "BY", "TABLE"}
    | {"PARTITION", "ORDER", "LIMIT"}
)
_TIME_TRAVEL = frozenset({"FOR", "VERSION", "TIMESTAMP"})


def target(cursor: Cursor, *, alias: bool = True) -> TableRef:
    first = cursor.at
    name = cursor.name("the name of a table")
    span = cursor.span_from(first)
    if cursor.word in _TIME_TRAVEL and "OF" in (cursor.peek(2).word, cursor.peek(3).word):
        raise cursor.fault("a table can only be changed as it is now: AS OF is for reading")
    if cursor.accept("FOR", "BRANCH"):
        name = replace(name, branch=_branch(cursor))
    return TableRef(name, span, alias_part(cursor) if alias else None)


def _branch(cursor: Cursor) -> Part:
    """b, "b" or 'b'"""
    return Part(cursor.string("the name of a branch"), quoted=True) if cursor.peek().kind == "string" else cursor.part()


def alias_part(cursor: Cursor) -> Part | None:
    """[AS] alias"""
    if cursor.accept("AS"):
        return cursor.part("an alias")
    token = cursor.peek()
    if token.kind == "quoted" or (token.kind == "word" and token.word not in _NOT_ALIASES):
        return cursor.part()
    return None


def assignments(cursor: Cursor, *ends: str) -> tuple[Assignment, ...]:
    """column = expression, …"""
    found = [_assignment(cursor, ends)]
    while cursor.accept(","):
        found.append(_assignment(cursor, ends))
    return tuple(found)


def _assignment(cursor: Cursor, ends: tuple[str, ...]) -> Assignment:
    if cursor.word == "(":
        raise cursor.unsupported("SET (a, b) = … is not supported: assign each column by itself")
    column = cursor.path("the name of a column")
    cursor.expect("=")
    return Assignment(column, cursor.until(",", *ends, what="an expression"))


def refuse_tail(cursor: Cursor) -> None:
    """Refuses RETURNING and ON CONFLICT outside parentheses."""
    refuse_conflict(cursor)
    nested = 0
    for token in cursor.tokens[cursor.at :]:
        nested += {"(": 1, ")": -1}.get(token.word, 0)
        if nested == 0 and token.word == "RETURNING":
            raise Fault("RETURNING is not supported here: run the change as a statement", token.start, unsupported=True)


def refuse_conflict(cursor: Cursor) -> None:
    """Refuses ON CONFLICT outside parentheses."""
    nested = 0
    for at in range(cursor.at, len(cursor.tokens)):
        token = cursor.tokens[at]
        nested += {"(": 1, ")": -1}.get(token.word, 0)
        after = cursor.tokens[at + 1].word if at + 1 < len(cursor.tokens) else ""
        if nested == 0 and token.word == "ON" and after == "CONFLICT":
            raise Fault("ON CONFLICT is not supported: use MERGE", token.start, unsupported=True)
