"""SUMMARIZE table | query: a row for each column with its range, average, quantiles and how much of it is NULL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.arrow_types import sql_name_of_arrow
from pinakes.engine.commands.summary import SCHEMA, Column, asked, rows
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Summarize

if TYPE_CHECKING:
    from datafusion import DataFrame

    from pinakes.engine.planning.planner import Planner


def summarize(statement: Summarize, execution: Execution) -> Result:
    """Planned at once, asked when the result is read: the data is gone through once."""
    planner = execution.planner()
    text = planner.rewrite(statement, statement.table.span if statement.table else statement.body)
    body = f"SELECT * FROM {text.text}" if statement.table else text.text
    schema = schema_of(planner.plan(body, statement, None if statement.table else text.locate))
    names = _stored_types(statement, planner) or [sql_name_of_arrow(t) for t in schema.types]
    columns = [Column(f.name, name, f.type) for f, name in zip(schema, names, strict=True)]
    called = ", ".join(f'"c{i}"' for i in range(len(columns)))  # whatever their names, also one name twice
    frame = planner.plan(f'SELECT * FROM ({body}\n) AS "$body"({called})', statement)
    with translated():
        asking = execution.plans.derived(frame, lambda plan: asked(plan, columns))
        return Result(SCHEMA, _summary(asking, columns, execution))


def _stored_types(statement: Summarize, planner: Planner) -> list[str] | None:
    """The types that a table of a catalog was made with: a query reads a uuid as text."""
    table = statement.table
    if table is None or table.call is not None or table.name.is_path:
        return None
    stored = planner.named(table.name).table
    if stored is None:
        return None
    from pinakes.core.types import sql_name

    return [sql_name(f.field_type) for f in stored.handle.schema().fields]


def _summary(frame: DataFrame, columns: list[Column], execution: Execution) -> Iterator[pa.RecordBatch]:
    found = rows(execution.collect(frame), columns)
    arrays = [pa.array(v, f.type) for v, f in zip(zip(*found, strict=True), SCHEMA, strict=True)]
    yield pa.record_batch(arrays, schema=SCHEMA)
