"""DEALLOCATE name | ALL"""

from __future__ import annotations

from pinakes.core.errors import PreparedNotFound, listing
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Deallocate


def deallocate(statement: Deallocate, execution: Execution) -> Result:
    prepared = execution.session.prepared
    if statement.name is None:
        prepared.clear()
    elif prepared.pop(statement.name.exact, None) is None:
        raise PreparedNotFound(f"prepared statement {statement.name} does not exist; there is: {listing(prepared)}")
    return Result.done("DEALLOCATE")
