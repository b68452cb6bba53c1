"""Transactions: BEGIN, COMMIT, ROLLBACK."""

from __future__ import annotations

from pinakes.core.errors import TransactionAborted
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Begin, Commit, Rollback


def begin(statement: Begin, execution: Execution) -> Result:
    """BEGIN [WORK | TRANSACTION], START TRANSACTION [READ ONLY]: starts a transaction, which COMMIT or ROLLBACK ends.

    Inside a transaction it only changes the mode and gives a warning, as in PostgreSQL, because clients with autocommit
    off have already started a transaction.
    """
    session = execution.session
    if session.transaction is None:
        session.begin(read_only=statement.read_only)
    else:
        session.warn("a transaction has begun already: BEGIN has no effect")
        session.transaction.read_only |= statement.read_only
    return Result.done("BEGIN")


def commit(statement: Commit, execution: Execution) -> Result:
    """COMMIT [WORK | TRANSACTION]: makes all changes of the transaction visible, or none.

    COMMIT of an aborted transaction rolls it back and is an error. Outside of a transaction it does nothing and gives a
    warning, as in PostgreSQL.
    """
    session = execution.session
    transaction = session.end_transaction()
    if transaction is None:
        session.warn("there is no transaction to commit: outside of BEGIN … each statement is its own commit")
        return Result.done("COMMIT")
    if transaction.is_aborted:
        transaction.rollback()
        raise TransactionAborted(
            "the transaction was rolled back because a statement in it failed. Run it again from BEGIN."
        )
    transaction.commit()
    return Result.done("COMMIT")


def rollback(statement: Rollback, execution: Execution) -> Result:
    """ROLLBACK [WORK | TRANSACTION], ABORT: discards the changes of the transaction and removes its files."""
    session = execution.session
    transaction = session.end_transaction()
    if transaction is None:
        session.warn("there is no transaction to roll back: outside of BEGIN … each statement is its own commit")
    else:
        transaction.rollback()
    return Result.done("ROLLBACK")
