"""ALTER TABLE [IF EXISTS] name action [, action …]: all actions in one commit. Actions are ADD COLUMN name type
[FIRST | AFTER column], DROP COLUMN name, RENAME COLUMN name TO name, ALTER COLUMN name TYPE t | SET | DROP NOT NULL |
SET | DROP DEFAULT … | COMMENT '…' | FIRST | AFTER column, ADD | DROP PARTITION FIELD …, SET | UNSET PROPERTIES (…).
"""

from __future__ import annotations

from pinakes.engine.iceberg.write.alter import alter
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterTable


def alter_table(statement: AlterTable, execution: Execution) -> Result:
    if statement.if_exists and execution.resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.done("ALTER TABLE")
    alter(statement.name, statement.actions, execution, statement.text)
    return Result.done("ALTER TABLE")
