"""MERGE INTO."""

from __future__ import annotations

from typing import Literal

from pinakes.core.names import Part
from pinakes.parser.changes import Fragments, clause_spans, leading_span, locate_change
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.returning import returned, take_returning
from pinakes.parser.grammar.targets import alias_part, assignments, target
from pinakes.parser.statements import Assignment, Merge, MergeClause, Span
from pinakes.parser.time_travel import read_clause

_When = Literal["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"]


def merge(cursor: Cursor) -> Merge:
    """MERGE INTO target [AS alias] USING source [AS alias] ON condition WHEN …"""
    cursor.accept("INTO")
    tail = take_returning(cursor)
    changed = target(cursor)
    cursor.expect("USING")
    source, alias = _source(cursor)
    cursor.expect("ON")
    on = cursor.until("WHEN", what="a condition")
    clauses: list[MergeClause] = []
    while not cursor.ended():
        start = cursor.peek()
        clauses.append(_clause(cursor))
        if any(c.when == clauses[-1].when and c.condition is None for c in clauses[:-1]):
            raise cursor.fault(
                f"this clause is never reached: a WHEN {clauses[-1].when} without a condition stands before it", start
            )
    if not clauses:
        raise cursor.fault("expected WHEN [NOT] MATCHED THEN …")
    leading = leading_span(cursor.leading)
    found = Fragments(changed, clause_spans(clauses), source, on, leading)
    located = locate_change(cursor.text, cursor.tokens, found)
    return Merge(
        text=cursor.text,
        shown=cursor.shown,
        target=changed,
        source=source,
        source_alias=alias,
        on=on,
        clauses=tuple(clauses),
        returning=tail.counted,
        returned=returned(cursor, tail, changed, other="USING", merge=True),
        leading=leading,
        **tail.located(located)._asdict(),
    )


def _source(cursor: Cursor) -> tuple[Span, Part | None]:
    """Parses a table, a table function or ( query ), with its alias; the default alias of a table is its last part."""
    first = cursor.at
    own_name: Part | None = None
    if cursor.word == "(":
        cursor.skip_group()
    else:
        name = cursor.name("a table or a query in parentheses")
        own_name = Part(name.called, quoted=True) if name.is_path else name.last
        if cursor.word == "(":
            cursor.skip_group()
    read_clause(cursor)  # skipped here; `locate.py` parses it
    alias = alias_part(cursor)
    if alias is not None and cursor.word == "(":
        cursor.skip_group()
    read_clause(cursor)
    if cursor.word != "ON":
        raise cursor.fault("expected ON and a condition")
    return cursor.span_from(first), alias or own_name


def _clause(cursor: Cursor) -> MergeClause:
    """WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action"""
    cursor.expect("WHEN")
    when = _when(cursor)
    condition = cursor.until("THEN", what="a condition") if cursor.accept("AND") else None
    cursor.expect("THEN")
    if cursor.accept("DELETE"):
        _only(cursor, when != "NOT MATCHED", "DELETE")
        return MergeClause(when, "DELETE", condition)
    if cursor.accept("DO", "NOTHING"):
        return MergeClause(when, "NOTHING", condition)
    if cursor.accept("UPDATE"):
        _only(cursor, when != "NOT MATCHED", "UPDATE")
        star, assigned = _update(cursor)
        return MergeClause(when, "UPDATE", condition, assigned, star=star)
    cursor.expect("INSERT")
    _only(cursor, when == "NOT MATCHED", "INSERT")
    return _insert(cursor, when, condition)


def _when(cursor: Cursor) -> _When:
    negated = cursor.accept("NOT")
    cursor.expect("MATCHED")
    by_source = cursor.accept("BY", "SOURCE")
    if not by_source:
        cursor.accept("BY", "TARGET")
    if by_source and not negated:
        raise cursor.fault("BY SOURCE goes with NOT MATCHED")
    return ("NOT MATCHED BY SOURCE" if by_source else "NOT MATCHED") if negated else "MATCHED"


def _only(cursor: Cursor, fits: bool, action: str) -> None:
    if not fits:
        where = "WHEN NOT MATCHED" if action == "INSERT" else "WHEN MATCHED or NOT MATCHED BY SOURCE"
        raise cursor.fault(f"{action} belongs to {where}", cursor.tokens[cursor.at - 1])


def _update(cursor: Cursor) -> tuple[bool, tuple[Assignment, ...]]:
    if cursor.accept("*"):
        return True, ()
    cursor.expect("SET")
    if cursor.accept("*"):
        return True, ()
    return False, assignments(cursor, "WHEN")


def _insert(cursor: Cursor, when: _When, condition: Span | None) -> MergeClause:
    if cursor.accept("*") or cursor.accept("ROW"):
        return MergeClause(when, "INSERT", condition, star=True)
    columns: tuple[Part, ...] = ()
    if cursor.word == "(":
        columns = tuple(p[-1] for p in cursor.listed(Cursor.path))
    start = cursor.peek()
    cursor.expect("VALUES")
    values = cursor.listed(lambda c: c.until(",", ")", what="an expression"))
    if columns and len(columns) != len(values):
        raise cursor.fault(f"{len(columns)} columns and {len(values)} values", start)
    return MergeClause(when, "INSERT", condition, columns=columns, values=values)
