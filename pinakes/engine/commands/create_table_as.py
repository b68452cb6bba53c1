"""CREATE [OR REPLACE] [TEMP] TABLE name [(columns)] [PARTITIONED BY …] AS query: the table appears with its rows.

They come in one commit. Columns that have types are filled as by INSERT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from pinakes.core.catalog import IcebergTable, TableSpec
from pinakes.core.errors import ExecutionError
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.binding.new_objects import check_free, check_location
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.append import append_files
from pinakes.engine.iceberg.write.cast_errors import misfit
from pinakes.engine.iceberg.write.commit import abandoned_on_error, again, commit
from pinakes.engine.iceberg.write.definition import spec_from_query
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.ordered import is_ordered, wrapped
from pinakes.engine.iceberg.write.replace import replace_table
from pinakes.engine.iceberg.write.shape import positions, shaped
from pinakes.engine.planning.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateTableAs

_Planned = tuple[TableSpec, Iterator[pa.RecordBatch], bool]


def create_table_as(statement: CreateTableAs, execution: Execution) -> Result:
    rows = elsewhere(statement, execution)
    if rows is not None:
        return Result.done("CREATE TABLE AS", rows)
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_location(statement.location, place, execution.session.guard.files)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE TABLE AS", 0)
    check_free(existing, "TABLE", replace=statement.or_replace)
    if existing is not None:
        return Result.done("CREATE TABLE AS", again(lambda: _replaced(statement, execution, existing), existing))
    spec, batches, ordered = _planned(statement, execution, None)
    transaction = catalog.begin_create_table(place.namespace, name, spec)
    metadata, io = transaction.table_metadata, transaction._table.io
    with abandoned_on_error(transaction), FileWriter(metadata, io, ordered=ordered) as writer:
        writer.write_all(batches)
        execution.query.check()
        if writer.files:
            append_files(transaction, writer.files)
        commit(transaction, place, name)
        writer.keep()
    return Result.done("CREATE TABLE AS", writer.rows)


def _replaced(statement: CreateTableAs, execution: Execution, existing: Found) -> int:
    # First the table, then the query: when it reads the table it replaces, both mean the same snapshot.
    old = execution.resolver.fresh(existing)
    spec, rows, ordered = _planned(statement, execution, old)
    return replace_table(old, existing, spec, rows, execution.query.check, ordered=ordered)


def _planned(statement: CreateTableAs, execution: Execution, old: IcebergTable | None) -> _Planned:
    """What the table is to be, its rows, and whether these come in an order of the query's own."""
    planner = execution.planner()
    with execution.query.phase("resolve"):
        body = planner.rewrite(statement, statement.body)
    frame = planner.plan(body.text, statement, body.locate)
    spec = spec_from_query(statement, schema_of(frame), execution, old)
    ordered = is_ordered(frame)
    if not statement.with_data:
        return spec, iter(()), ordered
    if not statement.defined:
        return spec, execution.batches(frame), ordered
    zone = execution.session.settings.time_zone
    sources = positions([f.name for f in spec.schema.fields], schema_of(frame))
    aliases = ", ".join(f'"c{i}"' for i in range(len(sources)))
    sql = f'SELECT {shaped(spec.schema, sources, zone)} FROM {wrapped(body.text, frame)} AS "src"({aliases})'
    rows = execution.batches(planner.plan(sql, statement))
    return spec, _told(rows, lambda: misfit(execution, planner, body.text, sources, spec.schema)), ordered


def _told(rows: Iterator[pa.RecordBatch], why: Callable[[], str | None]) -> Iterator[pa.RecordBatch]:
    """The rows; a cast that fails tells the column and the row, which the plan's own error does not."""
    try:
        yield from rows
    except ExecutionError as error:
        told = why()
        if told is None:
            raise
        raise ExecutionError(told) from error
