"""Creating and dropping tables: CREATE TABLE, CREATE TABLE AS, DROP TABLE."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.core.catalog import IcebergTable, SupportsTableActions, TableSpec
from pinakes.core.engines import LOCAL
from pinakes.core.errors import ExecutionError, TableExists, TableNotFound
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.binding.namespaces import ResolvedNamespace, ResolvedTable
from pinakes.engine.binding.new_objects import check_free, check_places
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.append import append_files
from pinakes.engine.iceberg.write.commit import abandoned_on_error, again, commit
from pinakes.engine.iceberg.write.definition import spec_from_columns, spec_from_query, spec_like
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.ordered import is_ordered, wrapped
from pinakes.engine.iceberg.write.replace import replace_table
from pinakes.engine.iceberg.write.shape import positions, shaped
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateTable, CreateTableAs, DropTable


def create_table(statement: CreateTable, execution: Execution) -> Result:
    """CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name (column type [NOT NULL] [DEFAULT value] [CHECK
    (condition)], …, [CONSTRAINT name] CHECK (condition)) | LIKE table [PARTITIONED BY (…)] [SORTED BY (…)] [COMMENT
    '…'] [LOCATION '…'] [WITH (…)]
    """
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_places(statement.location, statement.properties, place, execution.session.guard)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE TABLE")
    check_free(existing, "TABLE", replace=statement.or_replace)
    if isinstance(catalog, SupportsTableActions):
        from pinakes.engine.workers.definitions import columns_of, comment_of

        columns, comment = columns_of(statement, execution), comment_of(statement)
        catalog.define_table(place.namespace, name, columns, comment, replace=statement.or_replace)
        return Result.done("CREATE TABLE")
    if existing is not None:
        again(lambda: _replace_table(statement, execution, existing), existing)
        return Result.done("CREATE TABLE")
    try:
        catalog.create_table(place.namespace, name, _table_spec(statement, execution, place, None))
    except TableExists:
        if not statement.if_not_exists:
            raise
    return Result.done("CREATE TABLE")


def _replace_table(statement: CreateTable, execution: Execution, existing: ResolvedTable) -> None:
    old = execution.resolver.fresh(existing)
    replace_table(old, existing, _table_spec(statement, execution, existing.place, old), (), execution.query.check)


def _table_spec(
    statement: CreateTable, execution: Execution, place: ResolvedNamespace, old: IcebergTable | None
) -> TableSpec:
    if not statement.like:
        return spec_from_columns(statement, execution, old)
    _, like = execution.resolver.described(statement.like)
    spec = spec_like(statement, like, execution, old)
    check_places(spec.location, spec.properties.items(), place, execution.session.guard)  # those of the other table
    return spec


_Planned = tuple[TableSpec, Iterator[pa.RecordBatch], bool]


def create_table_as(statement: CreateTableAs, execution: Execution) -> Result:
    """CREATE [OR REPLACE] [TEMP] TABLE name [(columns)] [PARTITIONED BY …] AS query: creates a table with the rows of a
    query, in one commit.

    If columns with types are given, values are cast as by INSERT.
    """
    if execution.engine.engine != LOCAL:
        from pinakes.engine.remote.changes import change_remotely

        rows = change_remotely(statement, execution)
        if rows is not None:
            return Result.done("CREATE TABLE AS", rows)
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_places(statement.location, statement.properties, place, execution.session.guard)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE TABLE AS", 0)
    check_free(existing, "TABLE", replace=statement.or_replace)
    if existing is not None:
        return Result.done(
            "CREATE TABLE AS", again(lambda: _replace_table_as(statement, execution, existing), existing)
        )
    spec, batches, ordered = _plan_table_as(statement, execution, None)
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


def _replace_table_as(statement: CreateTableAs, execution: Execution, existing: ResolvedTable) -> int:
    # The table is loaded before the query is planned: if the query reads it, both see the same snapshot.
    old = execution.resolver.fresh(existing)
    spec, rows, ordered = _plan_table_as(statement, execution, old)
    return replace_table(old, existing, spec, rows, execution.query.check, ordered=ordered)


def _plan_table_as(statement: CreateTableAs, execution: Execution, old: IcebergTable | None) -> _Planned:
    """The definition of the table, its rows, and whether the query orders them."""
    planner = execution.planner()
    with execution.query.phase("resolve"):
        body = planner.rewrite(statement, statement.body)
    plan = planner.plan(body.text, statement, body.locate)
    frame = plan.frame
    spec = spec_from_query(statement, schema_of(frame), execution, old)
    ordered = is_ordered(frame)
    if not statement.with_data:
        return spec, iter(()), ordered
    if not statement.defined:
        return spec, execution.batches(plan), ordered
    zone = execution.session.settings.time_zone
    sources = positions([f.name for f in spec.schema.fields], schema_of(frame))
    aliases = ", ".join(f'"c{i}"' for i in range(len(sources)))
    sql = f'SELECT {shaped(spec.schema, sources, zone)} FROM {wrapped(body.text, frame)} AS "src"({aliases})'
    rows = execution.batches(planner.plan(sql, statement))

    def rows_or_misfit() -> Iterator[pa.RecordBatch]:
        try:
            yield from rows
        except ExecutionError as error:
            from pinakes.engine.iceberg.write.cast_errors import misfit

            message = misfit(execution, planner, body.text, sources, spec.schema)  # names the column and the row
            if message is None:
                raise
            raise ExecutionError(message) from error

    return spec, rows_or_misfit(), ordered


def drop_table(statement: DropTable, execution: Execution) -> Result:
    """DROP [TEMP] TABLE [IF EXISTS] name [PURGE]"""
    resolver = execution.resolver
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    if statement.if_exists and resolver.maybe(name, kind="TABLE") is None:
        return Result.done("DROP TABLE")
    found = resolver.find(name, kind="TABLE")
    catalog = table_changes(found.place.mount)
    # The files of a temporary table are removed at once, unless another statement of the session still runs or has
    # unread rows: then they are removed with the session.
    is_idle = all(q is execution.query or q.ended is not None for q in list(execution.session.running))
    purge = statement.purge or (found.place.mount.is_private and is_idle)
    try:
        catalog.drop_table(found.place.namespace, found.name, purge=purge)
    except TableNotFound:  # dropped by another session meanwhile
        if not statement.if_exists:
            raise
    return Result.done("DROP TABLE")
