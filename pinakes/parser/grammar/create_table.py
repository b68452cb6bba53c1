"""CREATE TABLE with columns, LIKE another, or AS a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pinakes.core.names import Name, Part
from pinakes.parser.columns_def import column_rest, table_constraint
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.query import STARTS, body
from pinakes.parser.grammar.table_clauses import Clauses, clause
from pinakes.parser.statements import Check, ColumnDef, CreateTable, CreateTableAs

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

_QUERY = ("AS", *(word for word in STARTS if word != "WITH"))


@dataclass(slots=True)
class _Columns:
    """The list in parentheses after the name."""

    defined: list[ColumnDef] = field(default_factory=list)
    names: list[Part] = field(default_factory=list)
    """Columns without a type, as in CREATE TABLE t (a, b) AS …"""
    key: tuple[Part, ...] = ()
    checks: list[Check] = field(default_factory=list)
    like: Name | None = None


@dataclass(slots=True)
class _Head:
    """The clauses before the query."""

    name: Name
    columns: _Columns
    clauses: Clauses
    temporary: bool
    if_not_exists: bool
    or_replace: bool


def create_table(cursor: Cursor, or_replace: bool, temporary: bool) -> AnyStatement:
    """CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name (columns) | LIKE other … [AS query]"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name("a name for the table")
    columns = _columns(cursor)
    clauses = Clauses()
    while not cursor.ended() and cursor.word not in _QUERY:
        clause(cursor, clauses)
    head = _Head(name, columns, clauses, temporary, if_not_exists, or_replace)
    return _with_columns(cursor, head) if cursor.ended() else _as_query(cursor, head)


def _columns(cursor: Cursor) -> _Columns:
    found = _Columns()
    if cursor.accept("LIKE"):
        found.like = cursor.name("a table")
    elif cursor.sees("(", "LIKE") and cursor.peek(2).kind in ("word", "quoted"):
        cursor.accept("(", "LIKE")
        found.like = cursor.name("a table")
        cursor.expect(")")
    elif cursor.word == "(" and cursor.peek(1).word not in STARTS:
        cursor.listed(lambda c: _item(c, found))
    return found


def _item(cursor: Cursor, into: _Columns) -> None:
    """Parses a constraint, a column, or a bare column name."""
    constraint = table_constraint(cursor)
    if isinstance(constraint, Check):
        into.checks.append(constraint)
        return
    if constraint is not None:
        into.key = constraint
        return
    name = cursor.part("the name of a column")
    if cursor.word in (",", ")"):
        into.names.append(name)
        return
    column, is_key = column_rest(cursor, name)
    into.defined.append(column)
    into.checks += column.checks
    into.key += (column.name,) if is_key else ()


def _with_columns(cursor: Cursor, head: _Head) -> CreateTable:
    columns = head.columns
    if columns.names:
        raise cursor.fault(f"column {columns.names[0]} needs a type, or the table needs AS and a query")
    if not columns.defined and columns.like is None:
        raise cursor.fault("expected ( and the columns, LIKE and a table, or AS and a query")
    return CreateTable(
        text=cursor.text,
        shown=cursor.shown,
        name=head.name,
        columns=tuple(columns.defined),
        primary_key=columns.key,
        checks=tuple(columns.checks),
        partitioning=head.clauses.partitioning,
        sorting=head.clauses.sorting,
        properties=head.clauses.properties,
        comment=head.clauses.comment,
        location=head.clauses.location,
        like=columns.like,
        temporary=head.temporary,
        if_not_exists=head.if_not_exists,
        or_replace=head.or_replace,
    )


def _as_query(cursor: Cursor, head: _Head) -> CreateTableAs:
    columns = head.columns
    if columns.like is not None:
        raise cursor.fault("a table is LIKE another one or AS a query, not both")
    if columns.names and (columns.defined or columns.key or columns.checks):
        raise cursor.fault(f"column {columns.names[0]} needs a type, as the others have one")
    cursor.accept("AS")
    end, with_data = _data_clause(cursor)
    span, located = body(cursor, end)
    return CreateTableAs(
        text=cursor.text,
        shown=cursor.shown,
        name=head.name,
        body=span,
        columns=tuple(columns.names),
        defined=tuple(columns.defined),
        primary_key=columns.key,
        checks=tuple(columns.checks),
        partitioning=head.clauses.partitioning,
        sorting=head.clauses.sorting,
        properties=head.clauses.properties,
        comment=head.clauses.comment,
        location=head.clauses.location,
        temporary=head.temporary,
        if_not_exists=head.if_not_exists,
        or_replace=head.or_replace,
        with_data=with_data,
        **located._asdict(),
    )


def _data_clause(cursor: Cursor) -> tuple[int, bool]:
    """Returns the index of the query's end before WITH [NO] DATA, and whether rows are written."""
    words = [t.word for t in cursor.tokens[-3:]]
    if words == ["WITH", "NO", "DATA"]:
        return len(cursor.tokens) - 3, False
    if words[-2:] == ["WITH", "DATA"]:
        return len(cursor.tokens) - 2, True
    return len(cursor.tokens), True
