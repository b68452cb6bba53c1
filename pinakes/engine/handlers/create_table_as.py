"""CREATE [OR REPLACE] [TEMP] TABLE name [PARTITIONED BY …] AS query: the table appears with its rows, in one commit."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from datafusion import DataFrame

from pinakes.engine.capability import table_changes
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.elsewhere import elsewhere
from pinakes.engine.handlers.taken import check_free
from pinakes.engine.handlers.temporary import check_location
from pinakes.engine.places import Found
from pinakes.engine.result import Result
from pinakes.engine.schemas import schema_of
from pinakes.engine.write.append import append_files
from pinakes.engine.write.commit import abandoned_on_error, again, commit
from pinakes.engine.write.definition import spec_from_query
from pinakes.engine.write.files import FileWriter
from pinakes.engine.write.ordered import is_ordered
from pinakes.engine.write.replace import replace_table
from pinakes.parser.statements import CreateTableAs


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
    frame = execution.planner().query(statement, statement.body)
    spec = spec_from_query(statement, schema_of(frame), None)
    batches = _rows(statement, execution, frame)
    transaction = catalog.begin_create_table(place.namespace, name, spec)
    metadata, io = transaction.table_metadata, transaction._table.io
    with abandoned_on_error(transaction), FileWriter(metadata, io, ordered=is_ordered(frame)) as writer:
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
    frame = execution.planner().query(statement, statement.body)
    spec = spec_from_query(statement, schema_of(frame), old)
    rows = _rows(statement, execution, frame)
    return replace_table(old, existing, spec, rows, execution.query.check, ordered=is_ordered(frame))


def _rows(statement: CreateTableAs, execution: Execution, frame: DataFrame) -> Iterator[pa.RecordBatch]:
    return execution.batches(frame) if statement.with_data else iter(())
