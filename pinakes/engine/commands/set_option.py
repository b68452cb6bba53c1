"""SET name = value: for this session; SHOW SESSION lists what may be set.

SET GLOBAL cache.name.limit = value: a limit of a cache, for everybody and until the process ends.
"""

from __future__ import annotations

from pinakes.caches.limits import is_cache_setting
from pinakes.core.errors import InvalidArgument
from pinakes.engine.catalogs.global_settings import change_global
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import SetOption


def set_option(statement: SetOption, execution: Execution) -> Result:
    session = execution.session
    if statement.scope == "GLOBAL":
        change_global(session, lambda limits: limits.set(statement.name, statement.value))
    elif is_cache_setting(statement.name):
        raise InvalidArgument(f"{statement.name} concerns everybody: SET GLOBAL {statement.name} = …")
    else:
        session.change_settings(session.settings.with_value(statement.name, statement.value))
    return Result.done("SET")
