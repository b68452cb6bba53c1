"""DROP [TEMP] TABLE [IF EXISTS] name [PURGE]"""

from __future__ import annotations

from pinakes.core.errors import TableNotFound
from pinakes.engine.binding.capabilities import table_changes
from pinakes.engine.commands.temporary import is_idle
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import DropTable


def drop_table(statement: DropTable, execution: Execution) -> Result:
    resolver = execution.resolver
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    if statement.if_exists and resolver.maybe(name, kind="TABLE") is None:
        return Result.done("DROP TABLE")
    found = resolver.find(name, kind="TABLE")
    catalog = table_changes(found.place.mount)
    # Nobody else can want the files of a temporary table; those that are still read go with the session.
    purge = statement.purge or (found.place.mount.is_private and is_idle(execution))
    try:
        catalog.drop_table(found.place.namespace, found.name, purge=purge)
    except TableNotFound:  # somebody else was faster
        if not statement.if_exists:
            raise
    return Result.done("DROP TABLE")
