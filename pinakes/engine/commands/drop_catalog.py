"""DROP CATALOG [IF EXISTS] name: DETACH in another dialect. Nothing in the catalog is dropped."""

from __future__ import annotations

from pinakes.engine.commands.detach import unmount
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import DropCatalog


def drop_catalog(statement: DropCatalog, execution: Execution) -> Result:
    unmount(execution.session, statement.name, if_exists=statement.if_exists)
    return Result.done("DROP CATALOG")
