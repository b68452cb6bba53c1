"""CALL [catalog.]system.procedure(value, name => value, …), CALL system.runtime.procedure(…): what it did, as rows."""

from __future__ import annotations

from pinakes.engine.procedures.call import run
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Call


def call(statement: Call, execution: Execution) -> Result:
    return run(statement, execution)
