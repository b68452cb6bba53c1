"""CREATE [OR REPLACE] [TEMP] TABLE name [PARTITIONED BY …] AS query: the table appears with its rows, in one commit."""

from __future__ import annotations

from pinakes.engine.capability import table_changes
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.taken import check_free
from pinakes.engine.handlers.temporary import check_location
from pinakes.engine.result import Result
from pinakes.engine.schemas import schema_of
from pinakes.engine.write.commit import abandoned_on_error, commit
from pinakes.engine.write.definition import spec_from_query
from pinakes.engine.write.files import FileWriter
from pinakes.engine.write.replace import replace_table
from pinakes.parser.statements import CreateTableAs


def create_table_as(statement: CreateTableAs, execution: Execution) -> Result:
    resolver = execution.session.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_location(statement.location, place, execution.session.engine.files)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE TABLE AS", 0)
    check_free(existing, "TABLE", replace=statement.or_replace)
    # First the table, then the query: when it reads the table it replaces, both mean the same snapshot.
    old = resolver.fresh(existing) if existing is not None else None
    frame = execution.planner().query(statement, statement.body)
    spec = spec_from_query(statement, schema_of(frame), old)
    batches = execution.batches(frame) if statement.with_data else iter(())
    if existing is not None and old is not None:
        return Result.done("CREATE TABLE AS", replace_table(old, existing, spec, batches))
    transaction = catalog.begin_create_table(place.namespace, name, spec)
    with abandoned_on_error(transaction), FileWriter(transaction.table_metadata, transaction._table.io) as writer:
        writer.write_all(batches)
        execution.query.check()
        if writer.files:
            with transaction.update_snapshot().fast_append() as append:
                for file in writer.files:
                    append.append_data_file(file)
        commit(transaction, place, name)
        writer.keep()
    return Result.done("CREATE TABLE AS", writer.rows)
