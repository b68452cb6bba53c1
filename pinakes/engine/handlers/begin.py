"""BEGIN [WORK | TRANSACTION], START TRANSACTION [READ ONLY]: the statements up to COMMIT or ROLLBACK are one change."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Begin


def begin(statement: Begin, execution: Execution) -> Result:
    session = execution.session
    if session.transaction is not None:
        raise InvalidArgument("a transaction has begun already: COMMIT or ROLLBACK it first")
    session.begin(read_only=statement.read_only)
    return Result.done("BEGIN")
