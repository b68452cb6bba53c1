"""TRUNCATE [TABLE] name: all rows go, in one commit.

Nothing is read or written but metadata. What COPY INTO has loaded may be loaded again.
"""

from __future__ import annotations

from pinakes.engine.iceberg.scan.snapshot import files_of
from pinakes.engine.iceberg.write.commit import again, begin, commit
from pinakes.engine.iceberg.write.loaded import forget
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Truncate


def truncate(statement: Truncate, execution: Execution) -> Result:
    found = execution.resolver.find(statement.name, kind="TABLE")

    def empty() -> None:
        _, table = execution.resolver.table(statement.name)
        if len(files_of(table, execution.session.manifests)):
            transaction = begin(table)
            forget(transaction)
            overwrite(transaction, Files(everything=True))
            commit(transaction, found.place, found.name)

    again(empty, found)
    return Result.done("TRUNCATE")
