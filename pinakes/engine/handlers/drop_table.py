"""DROP TABLE [IF EXISTS] name [PURGE]"""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.handlers.capability import table_changes
from pinakes.engine.result import Result
from pinakes.parser.statements import DropTable


def drop_table(statement: DropTable, execution: Execution) -> Result:
    resolver = execution.session.resolver
    if statement.if_exists and resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("DROP TABLE")
    found = resolver.find(statement.name, kind="TABLE")
    catalog = table_changes(found.place.mount)
    catalog.drop_table(found.place.namespace, found.name, purge=statement.purge)
    return Result.done("DROP TABLE")
