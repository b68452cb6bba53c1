"""SET name = value: for this session; SHOW SESSION lists what may be set."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import SetOption


def set_option(statement: SetOption, execution: Execution) -> Result:
    if statement.scope == "GLOBAL":
        raise NotSupportedError(
            "SET GLOBAL is not supported yet; SET changes this session, the configuration all of them"
        )
    session = execution.session
    session.change_settings(session.settings.with_value(statement.name, statement.value))
    return Result.done("SET")
