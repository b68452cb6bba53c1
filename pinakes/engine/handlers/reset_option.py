"""RESET name | ALL: back to what the configuration says."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import ResetOption


def reset_option(statement: ResetOption, execution: Execution) -> Result:
    if statement.scope == "GLOBAL":
        raise NotSupportedError("RESET GLOBAL is not supported yet; RESET changes this session")
    session = execution.session
    session.change_settings(session.settings.with_default(statement.name, session.defaults))
    return Result.done("RESET")
