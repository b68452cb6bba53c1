"""The columns that INSERT, UPDATE and MERGE fill, and the SQL text and types of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.errors import ColumnExists, ColumnNotFound, InvalidArgument, NotSupportedError, listing
from pinakes.core.names import Part, match, quote
from pinakes.engine.iceberg.write.merge import Clause
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.parser.statements import Assignment, Insert, Merge, MergeClause


def remaining_columns(schema: Schema, static: Mapping[str, str]) -> list[str]:
    """Returns the columns that the query fills."""
    return [f.name for f in schema.fields if f.name not in static]


def filled_columns(
    statement: Insert, schema: Schema, arrow: pa.Schema, static: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Returns the table's column for each column of the query, whose schema is `arrow`."""
    names = remaining_columns(schema, static)
    given = [Part(n, quoted=False) for n in arrow.names] if statement.by_name else statement.columns
    columns = target_columns(given, names) if given else names
    width = len(arrow)
    if len(columns) != width:
        raise InvalidArgument(
            f"the query has {width} columns, but {len(columns)} columns are assigned: "
            f"{', '.join(quote(c) for c in columns)}"
        )
    return columns


def target_columns(parts: Sequence[Part], names: Sequence[str]) -> list[str]:
    """Returns the exact names of the columns in a list; duplicates are an error."""
    columns: list[str] = []
    for part in parts:
        name = match(part, names, "column")
        if name is None:
            raise ColumnNotFound(f"column {part} does not exist; available: {listing(names)}")
        if name in columns:
            raise ColumnExists(f"column {part} is named twice")
        columns.append(name)
    return columns


def assigned(assignments: Sequence[Assignment], change: Rewrite) -> dict[str, str]:
    """Returns the SQL text of each assigned value, by the exact name of its column."""
    values: dict[str, str] = {}
    for assignment in assignments:
        if len(assignment.column) > 1 and match(assignment.column[0], change.columns, "column") is not None:
            raise NotSupportedError("fields within a column cannot be set alone; set the whole column")
        part = assignment.column[-1]
        name = match(part, change.columns, "column")
        if name is None:
            raise ColumnNotFound(f"column {part} does not exist; available: {listing(change.columns)}")
        if name in values:
            raise ColumnExists(f"column {part} is set twice")
        values[name] = change.text(assignment.value)
    return values


def value_types(change: Rewrite, values: dict[str, str]) -> dict[str, pa.DataType]:
    """Returns the types of the values, as planned by DataFusion."""
    if not values:
        return {}
    text = ", ".join(f"({sql}\n) AS {quote(name)}" for name, sql in values.items())
    types = change.types(f"SELECT {text} FROM {change.sql}")
    return dict(zip(values, types, strict=True))


def clause_of(clause: MergeClause, statement: Merge, change: Rewrite, source: str) -> Clause:
    condition = None
    if clause.condition is not None:
        condition = change.text(clause.condition)
    return Clause(clause.when, clause.action, condition, _values(clause, statement, change, source))


def _values(clause: MergeClause, statement: Merge, change: Rewrite, source: str) -> dict[str, str]:
    if clause.star:
        return _star(statement, change, source)
    if clause.action == "UPDATE":
        return assigned(clause.assignments, change)
    if clause.action != "INSERT":
        return {}
    columns = target_columns(clause.columns, change.columns) if clause.columns else change.columns
    if len(columns) != len(clause.values):
        raise InvalidArgument(f"INSERT names {len(columns)} columns and gives {len(clause.values)} values")
    texts = [change.text(v) for v in clause.values]
    return dict(zip(columns, texts, strict=True))


def _star(statement: Merge, change: Rewrite, source: str) -> dict[str, str]:
    """Returns the values of UPDATE SET * and INSERT *: each column of the target from the source column of the same
    name.
    """
    names = change.plan(f"SELECT * FROM {source}").frame.schema().names
    found = {c: match(Part(c), names, "column") for c in change.columns}
    missing = [c for c, name in found.items() if name is None]
    if missing:
        raise InvalidArgument(f"* needs a column {quote(missing[0])} in the source, which has: {', '.join(names)}")
    prefix = f"{quote(statement.source_alias.exact)}." if statement.source_alias else ""
    return {c: f"{prefix}{quote(name)}" for c, name in found.items() if name is not None}
