"""TRUNCATE [TABLE] name: all rows go, in one commit.

Nothing is read or written but metadata.
"""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.scan.tasks import plan
from pinakes.engine.write.commit import again, commit
from pinakes.engine.write.overwrite import overwrite
from pinakes.parser.statements import Truncate


def truncate(statement: Truncate, execution: Execution) -> Result:
    found = execution.session.resolver.find(statement.name, kind="TABLE")

    def empty() -> None:
        _, table = execution.session.resolver.table(statement.name)
        files = [task.file for task in plan(table)]
        if files:
            transaction = table.handle.transaction()
            overwrite(transaction, files, ())
            commit(transaction, found.place, found.name)

    again(empty, found)
    return Result.done("TRUNCATE")
