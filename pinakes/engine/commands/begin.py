"""BEGIN [WORK | TRANSACTION], START TRANSACTION [READ ONLY]: the statements up to COMMIT or ROLLBACK are one change.

Within a transaction it changes nothing but the mode, with a warning, as in PostgreSQL: a client that has autocommit off
has begun one before its user says BEGIN.
"""

from __future__ import annotations

from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Begin


def begin(statement: Begin, execution: Execution) -> Result:
    session = execution.session
    if session.transaction is None:
        session.begin(read_only=statement.read_only)
    else:
        session.warn("a transaction has begun already: BEGIN has no effect")
        session.transaction.read_only |= statement.read_only
    return Result.done("BEGIN")
