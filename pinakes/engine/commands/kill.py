"""KILL [QUERY] 'id': stop a running statement, one's own or, as an administrator, anyone's."""

from __future__ import annotations

from pinakes.engine.execution.kill import kill_query
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Kill


def kill(statement: Kill, execution: Execution) -> Result:
    kill_query(execution.session, statement.query_id)
    return Result.done("KILL")
