"""CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name (column type [NOT NULL] [DEFAULT value], …) | LIKE table
[PARTITIONED BY (…)] [SORTED BY (…)] [COMMENT '…'] [LOCATION '…'] [WITH (…)]
"""

from __future__ import annotations

from pinakes.core.catalog import IcebergTable, SupportsTableActions, TableSpec
from pinakes.core.errors import TableExists
from pinakes.core.names import Name
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.binding.new_objects import check_free, check_location
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.definition import spec_from_columns, spec_like
from pinakes.engine.iceberg.write.replace import replace_table
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateTable


def create_table(statement: CreateTable, execution: Execution) -> Result:
    resolver = execution.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_location(statement.location, place, execution.session.guard.files)
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
        again(lambda: _replaced(statement, execution, existing), existing)
        return Result.done("CREATE TABLE")
    try:
        catalog.create_table(place.namespace, name, _spec(statement, execution, None))
    except TableExists:
        if not statement.if_not_exists:
            raise
    return Result.done("CREATE TABLE")


def _replaced(statement: CreateTable, execution: Execution, existing: Found) -> None:
    old = execution.resolver.fresh(existing)
    replace_table(old, existing, _spec(statement, execution, old), (), execution.query.check)


def _spec(statement: CreateTable, execution: Execution, old: IcebergTable | None) -> TableSpec:
    if statement.like:
        return spec_like(statement, _like(statement.like, execution), old)
    return spec_from_columns(statement, execution, old)


def _like(name: Name, execution: Execution) -> IcebergTable:
    _, table = execution.resolver.described(name)
    return table
