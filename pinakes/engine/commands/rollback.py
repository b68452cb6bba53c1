"""ROLLBACK [WORK | TRANSACTION], ABORT: the transaction changes nothing, and what it wrote is removed."""

from __future__ import annotations

from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Rollback


def rollback(statement: Rollback, execution: Execution) -> Result:
    session = execution.session
    transaction = session.end_transaction()
    if transaction is None:
        session.warn("there is no transaction to roll back: outside of BEGIN … each statement is its own commit")
    else:
        transaction.rollback()
    return Result.done("ROLLBACK")
