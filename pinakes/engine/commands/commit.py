"""COMMIT [WORK | TRANSACTION]: the changes of the transaction become visible, all or none.

One that is aborted is rolled back, and that is an error: nobody may take its work for done. Outside of a transaction
there is nothing to do, which is a warning, as in PostgreSQL.
"""

from __future__ import annotations

from pinakes.core.errors import TransactionAborted
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Commit


def commit(statement: Commit, execution: Execution) -> Result:
    session = execution.session
    transaction = session.end_transaction()
    if transaction is None:
        session.warn("there is no transaction to commit: outside of BEGIN … each statement is its own commit")
        return Result.done("COMMIT")
    if transaction.is_aborted:
        transaction.rollback()
        raise TransactionAborted(
            "the transaction was rolled back and not committed, since a statement in it failed. It is over; run it "
            "again from BEGIN."
        )
    transaction.commit()
    return Result.done("COMMIT")
