"""RESET name | ALL: back to what the configuration says; RESET GLOBAL does so for the limits of caches."""

from __future__ import annotations

from pinakes.engine.catalogs.global_settings import change_global
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ResetOption


def reset_option(statement: ResetOption, execution: Execution) -> Result:
    session = execution.session
    if statement.scope == "GLOBAL":
        change_global(session, lambda limits: limits.reset(statement.name))
    else:
        session.change_settings(session.settings.with_default(statement.name, session.defaults))
    return Result.done("RESET")
