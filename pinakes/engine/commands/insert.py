"""INSERT INTO | OVERWRITE table [PARTITION (column [= constant], …)] [(columns)] [BY NAME] query | VALUES (…), … |
DEFAULT VALUES: rows are added, or put in place of others (`write/insert_overwrite.py`), in one commit.

They stream into new files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyiceberg.schema import Schema

from pinakes.core.errors import (
    ColumnExists,
    ExecutionError,
    PinakesError,
)
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.core.names import match
from pinakes.engine.commands.counted import counted
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.append import append
from pinakes.engine.iceberg.write.assignments import filled_columns, remaining_columns, target_columns
from pinakes.engine.iceberg.write.cast_errors import misfit
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.insert_overwrite import replace_all, replace_partitions, replace_where
from pinakes.engine.iceberg.write.ordered import is_ordered, wrapped
from pinakes.engine.iceberg.write.shape import positions, shaped
from pinakes.engine.iceberg.write.static_partition import static_values
from pinakes.engine.iceberg.write.values import value_casts
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.planning.splice import Edit
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Insert
from pinakes.parser.value_rows import value_rows


def insert(statement: Insert, execution: Execution) -> Result:
    rows = elsewhere(statement, execution)
    if rows is not None:
        return counted(statement, "INSERT", rows)
    found = execution.resolver.find(statement.target.name, kind="TABLE")
    change = _overwrite if statement.overwrite else _insert
    try:
        return counted(statement, "INSERT", again(lambda: change(statement, execution), found))
    except ExecutionError as error:
        told = _told(statement, execution)
        if told is None:
            raise
        raise ExecutionError(told) from error


def _told(statement: Insert, execution: Execution) -> str | None:
    """Which value does not fit its column, if that is what failed: the plan's error names neither column nor row."""
    _, table = execution.resolver.table(statement.target.name)
    schema, static = table.handle.schema(), static_values(statement, execution, table.handle)
    if statement.body is None:
        return None
    planner = execution.planner()
    try:
        body = planner.rewrite(statement, statement.body).text
        frame = planner.plan(body, statement)
        arrow = schema_of(frame)
        sources = positions(filled_columns(statement, schema, arrow, static), arrow)
        return misfit(execution, planner, body, sources, schema)
    except PinakesError:
        return None  # what can't be asked so (DEFAULT, a stream) is told by the error itself


def _insert(statement: Insert, execution: Execution) -> int:
    found, table = execution.resolver.table(statement.target.name)
    execution.query.touch(found.place.mount.name)
    static = static_values(statement, execution, table.handle)
    rows, ordered = _rows(statement, execution, table.handle.schema(), static)
    return append(table, found, rows, execution.query.check, ordered=ordered)


def _overwrite(statement: Insert, execution: Execution) -> int:
    found, table = execution.resolver.table(statement.target.name)
    execution.query.touch(found.place.mount.name)
    static = static_values(statement, execution, table.handle)
    rows, ordered = _rows(statement, execution, table.handle.schema(), static)
    if table.handle.spec().is_unpartitioned():
        return replace_all(table, found, rows, execution.query.check, ordered=ordered)
    if execution.session.settings.partition_overwrite_mode == "dynamic":
        return replace_partitions(table, found, rows, execution.query.check)
    if static:
        return replace_where(statement, execution, static, rows)
    return replace_all(table, found, rows, execution.query.check)


def _rows(
    statement: Insert, execution: Execution, schema: Schema, static: Mapping[str, str]
) -> tuple[Iterator[pa.RecordBatch], bool]:
    """The rows in the table's shape, and whether they come in an order of the query's own; `static` has the constants
    that PARTITION gives, by column."""
    planner = execution.planner()
    zone = execution.session.settings.time_zone
    given = {name: (sql, arrow_type_of(schema.find_field(name).field_type, zone)) for name, sql in static.items()}
    if statement.body is None:
        return execution.batches(planner.plan(f"SELECT {shaped(schema, given, zone)}", statement)), False
    body = planner.rewrite(statement, statement.body, also=_casts(statement, schema, zone, static))
    if value_rows(statement):
        types = planner.types(body.text, statement, body.locate)
        arrow = pa.schema([(f"column{i}", type) for i, type in enumerate(types, 1)])
        source, ordered = f"(\n{body.text}\n)", False
    else:
        frame = planner.plan(body.text, statement, body.locate)
        arrow, source, ordered = schema_of(frame), wrapped(body.text, frame), is_ordered(frame)
    columns = filled_columns(statement, schema, arrow, static)
    aliases = ", ".join(f'"c{i}"' for i in range(len(columns)))
    before = f"SELECT {shaped(schema, {**positions(columns, arrow), **given}, zone)} FROM "
    lines = before.count("\n") + 1
    frame = planner.plan(
        f'{before}{source} AS "src"({aliases})', statement, lambda line, column: body.locate(line - lines, column)
    )
    return execution.batches(frame), ordered


def _casts(statement: Insert, schema: Schema, zone: str, static: Mapping[str, str]) -> list[Edit]:
    if statement.by_name:
        return []
    names = remaining_columns(schema, static)
    twice = [name for name in static if any(match(part, [name], "column") for part in statement.columns)]
    if twice:
        raise ColumnExists(f"column {twice[0]} has its value in PARTITION already: leave it out of the columns")
    columns = target_columns(statement.columns, names) if statement.columns else names
    return value_casts(statement, columns, schema, zone)
