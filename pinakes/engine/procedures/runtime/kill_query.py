"""kill_query(query_id, [message]): cancels a statement, as KILL does; the message is shown to its user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.engine.execution.kill import kill_query
from pinakes.engine.procedures.base import Parameter, Rows, RuntimeProcedure

if TYPE_CHECKING:
    from pinakes.engine.statement_context import Execution


def _run(execution: Execution, arguments: dict[str, Any]) -> Rows:
    kill_query(execution.session, arguments["query_id"], arguments.get("message"))
    return ()


PROCEDURE = RuntimeProcedure(
    "kill_query", (Parameter("query_id", "text", required=True), Parameter("message", "text")), pa.schema([]), _run
)
