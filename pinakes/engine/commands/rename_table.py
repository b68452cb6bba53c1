"""ALTER TABLE [IF EXISTS] name RENAME TO name"""

from __future__ import annotations

from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.commands.renaming import renamed
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import RenameTable


def rename_table(statement: RenameTable, execution: Execution) -> Result:
    resolver = execution.resolver
    if statement.if_exists and resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("ALTER TABLE")
    found = resolver.find(statement.name, kind="TABLE")
    catalog = table_changes(found.place.mount)
    catalog.rename_table((found.place.namespace, found.name), renamed(found, statement.target, resolver))
    return Result.done("ALTER TABLE")
