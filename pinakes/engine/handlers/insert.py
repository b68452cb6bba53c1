"""INSERT INTO | OVERWRITE table [(columns)] [BY NAME] query | VALUES (…), … | DEFAULT VALUES: rows are added, or put in
place of all that there are, in one commit.

They stream into new files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from datafusion import DataFrame
from pyiceberg.schema import Schema

from pinakes.core.errors import ColumnExists, ColumnNotFound, InvalidArgument, NotSupportedError, listing
from pinakes.core.names import Part, match, quote
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.schemas import schema_of
from pinakes.engine.splice import Edit
from pinakes.engine.write.append import append
from pinakes.engine.write.commit import again
from pinakes.engine.write.shape import positions, shaped
from pinakes.engine.write.values import value_casts
from pinakes.parser.statements import Insert


def insert(statement: Insert, execution: Execution) -> Result:
    if statement.overwrite:
        raise NotSupportedError(
            "INSERT OVERWRITE is not supported yet; use DELETE and INSERT, or CREATE OR REPLACE TABLE"
        )
    found = execution.session.resolver.find(statement.target.name, kind="TABLE")
    return Result.done("INSERT", again(lambda: _insert(statement, execution), found))


def _insert(statement: Insert, execution: Execution) -> int:
    found, table = execution.session.resolver.table(statement.target.name)
    execution.query.touch(found.place.mount.name)
    return append(table, found, _rows(statement, execution, table.handle.schema()), execution.query.check)


def _rows(statement: Insert, execution: Execution, schema: Schema) -> Iterator[pa.RecordBatch]:
    planner = execution.planner()
    zone = execution.session.settings.time_zone
    if statement.body is None:
        return execution.batches(planner.plan(f"SELECT {shaped(schema, {}, zone)}", statement))
    body = planner.rewrite(statement, statement.body, also=_casts(statement, schema, zone))
    frame = planner.plan(body.text, statement, body.locate)
    columns = _columns(statement, schema, frame)
    aliases = ", ".join(f'"c{i}"' for i in range(len(columns)))
    select = shaped(schema, positions(columns, schema_of(frame)), zone)
    return execution.batches(planner.plan(f'SELECT {select} FROM ({body.text}\n) AS "src"({aliases})', statement))


def _casts(statement: Insert, schema: Schema, zone: str) -> list[Edit]:
    if statement.by_name:
        return []
    names = [f.name for f in schema.fields]
    columns = target_columns(statement.columns, names) if statement.columns else names
    return value_casts(statement, columns, schema, zone)


def _columns(statement: Insert, schema: Schema, frame: DataFrame) -> list[str]:
    """The table's column for each column of the query."""
    names = [f.name for f in schema.fields]
    given = [Part(n, quoted=False) for n in frame.schema().names] if statement.by_name else statement.columns
    columns = target_columns(given, names) if given else names
    width = len(frame.schema())
    if len(columns) != width:
        raise InvalidArgument(
            f"the query has {width} columns and {len(columns)} are to be filled: {', '.join(quote(c) for c in columns)}"
        )
    return columns


def target_columns(parts: Sequence[Part], names: Sequence[str]) -> list[str]:
    """The exact names of the columns that a list names, each once."""
    columns: list[str] = []
    for part in parts:
        name = match(part, names, "column")
        if name is None:
            raise ColumnNotFound(f"column {part} does not exist; there is: {listing(names)}")
        if name in columns:
            raise ColumnExists(f"column {part} is named twice")
        columns.append(name)
    return columns
