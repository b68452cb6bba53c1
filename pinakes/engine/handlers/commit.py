"""COMMIT [WORK | TRANSACTION]: the changes of the transaction become visible, all or none.

One that is aborted is rolled back, as PostgreSQL does it.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Commit


def commit(statement: Commit, execution: Execution) -> Result:
    transaction = execution.session.end_transaction()
    if transaction is None:
        raise InvalidArgument("there is no transaction to commit: outside of BEGIN … each statement is its own commit")
    if transaction.is_aborted:
        transaction.rollback()
        return Result.done("ROLLBACK")
    transaction.commit()
    return Result.done("COMMIT")
