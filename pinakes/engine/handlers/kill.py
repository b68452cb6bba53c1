"""KILL [QUERY] 'id': stop a running statement, one's own or, as an administrator, anyone's."""

from __future__ import annotations

from pinakes.core.errors import NotFoundError
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Kill


def kill(statement: Kill, execution: Execution) -> Result:
    identity = execution.session.identity
    query = execution.session.engine.tracker.running(statement.query_id)
    if query is None or not (identity.is_admin or query.user == identity.user):
        raise NotFoundError(f"no query '{statement.query_id}' is running")
    query.cancel(f"killed by {identity.user}")
    return Result.done("KILL")
