"""CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name (column type [NOT NULL] [DEFAULT value], …) | LIKE table
[PARTITIONED BY (…)] [SORTED BY (…)] [COMMENT '…'] [LOCATION '…'] [WITH (…)]
"""

from __future__ import annotations

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import TableExists
from pinakes.core.names import Name
from pinakes.engine.capability import table_changes
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.taken import check_free
from pinakes.engine.handlers.temporary import check_location
from pinakes.engine.result import Result
from pinakes.engine.write.definition import spec_from_columns, spec_like
from pinakes.engine.write.replace import replace_table
from pinakes.parser.statements import CreateTable


def create_table(statement: CreateTable, execution: Execution) -> Result:
    resolver = execution.session.resolver
    place, name = resolver.new_object(statement.name, temporary=statement.temporary)
    catalog = table_changes(place.mount)
    check_location(statement.location, place, execution.session.engine.files)
    existing = resolver.there(place, statement.name)
    if existing is not None and statement.if_not_exists:
        return Result.done("CREATE TABLE")
    check_free(existing, "TABLE", replace=statement.or_replace)
    old = resolver.fresh(existing) if existing is not None and statement.or_replace else None
    spec = (
        spec_like(statement, _like(statement.like, execution), old)
        if statement.like
        else spec_from_columns(statement, execution, old)
    )
    if existing is not None and old is not None:
        replace_table(old, existing, spec, ())
        return Result.done("CREATE TABLE")
    try:
        catalog.create_table(place.namespace, name, spec)
    except TableExists:
        if not statement.if_not_exists:
            raise
    return Result.done("CREATE TABLE")


def _like(name: Name, execution: Execution) -> IcebergTable:
    _, table = execution.session.resolver.described(name)
    return table
