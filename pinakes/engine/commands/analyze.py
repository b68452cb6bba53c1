"""ANALYZE [TABLE] table [(columns)], ANALYZE TABLE table COMPUTE STATISTICS [FOR COLUMNS …]: how many different values
the columns have is counted, and kept in the table's metadata (`engine/iceberg/statistics/`)."""

from __future__ import annotations

from datetime import UTC, datetime

from pinakes.core.errors import NotSupportedError
from pinakes.engine.iceberg.write.assignments import target_columns
from pinakes.engine.procedures.base import Work
from pinakes.engine.procedures.call import carried_out
from pinakes.engine.procedures.compute_table_stats import PROCEDURE
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Analyze


def analyze(statement: Analyze, execution: Execution) -> Result:
    if execution.session.transaction is not None:
        raise NotSupportedError("ANALYZE can't be part of a transaction: ROLLBACK, and run it outside of one")
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    columns = target_columns(statement.columns, [field.name for field in table.handle.schema().fields])
    if statement.scans:
        carried_out(PROCEDURE, Work(found, table, {"columns": columns or None}, datetime.now(UTC), execution))
    return Result.done("ANALYZE")
