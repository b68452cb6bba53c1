"""ALTER TABLE [IF EXISTS] name action [, action …]: all actions in one commit."""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.write.alter import alter
from pinakes.parser.statements import AlterTable


def alter_table(statement: AlterTable, execution: Execution) -> Result:
    if statement.if_exists and execution.session.resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("ALTER TABLE")
    alter(statement.name, statement.actions, execution, statement.text)
    return Result.done("ALTER TABLE")
