"""SELECT, VALUES, WITH …: planned and streamed by DataFusion."""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Query


def query(statement: Query, execution: Execution) -> Result:
    return execution.stream(execution.planner().query(statement))
