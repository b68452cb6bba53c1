"""Transactions: BEGIN, COMMIT, ROLLBACK."""

from __future__ import annotations

from pinakes.core.errors import TransactionAborted
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Begin, Commit, Rollback


def begin(statement: Begin, execution: Execution) -> Result:
    """BEGIN [WORK | TRANSACTION], START TRANSACTION [READ ONLY]: the statements up to COMMIT or ROLLBACK are one
    change.

    Within a transaction it changes nothing but the mode, with a warning, as in PostgreSQL: a client that has autocommit
    off has begun one before its user says BEGIN.
    """
    session = execution.session
    if session.transaction is None:
        session.begin(read_only=statement.read_only)
    else:
        session.warn("a transaction has begun already: BEGIN has no effect")
        session.transaction.read_only |= statement.read_only
    return Result.done("BEGIN")


def commit(statement: Commit, execution: Execution) -> Result:
    """COMMIT [WORK | TRANSACTION]: the changes of the transaction become visible, all or none.

    COMMIT of an aborted transaction rolls it back and is an error. Outside of a transaction it does nothing, with a
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
            "the transaction was rolled back and not committed, since a statement in it failed. It is over; run it "
            "again from BEGIN."
        )
    transaction.commit()
    return Result.done("COMMIT")


def rollback(statement: Rollback, execution: Execution) -> Result:
    """ROLLBACK [WORK | TRANSACTION], ABORT: the transaction changes nothing, and what it wrote is removed."""
    session = execution.session
    transaction = session.end_transaction()
    if transaction is None:
        session.warn("there is no transaction to roll back: outside of BEGIN … each statement is its own commit")
    else:
        transaction.rollback()
    return Result.done("ROLLBACK")
