"""DROP TABLE [IF EXISTS] name [PURGE]"""

from __future__ import annotations

from pinakes.core.errors import NotFoundError
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.capability import table_changes
from pinakes.engine.result import Result
from pinakes.parser.statements import DropTable


def drop_table(statement: DropTable, execution: Execution) -> Result:
    try:
        found = execution.session.resolver.find(statement.name, kind="TABLE")
        catalog = table_changes(found.place.mount)
        catalog.drop_table(found.place.namespace, found.name, purge=statement.purge)
    except NotFoundError:
        if not statement.if_exists:
            raise
    return Result.done("DROP TABLE")
