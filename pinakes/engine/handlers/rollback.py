"""ROLLBACK [WORK | TRANSACTION], ABORT: the transaction changes nothing, and what it wrote is removed."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Rollback


def rollback(statement: Rollback, execution: Execution) -> Result:
    transaction = execution.session.end_transaction()
    if transaction is None:
        raise InvalidArgument(
            "there is no transaction to roll back: outside of BEGIN … each statement is its own commit"
        )
    transaction.rollback()
    return Result.done("ROLLBACK")
