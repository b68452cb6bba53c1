"""Settings: SET, RESET, SHOW SESSION."""

from __future__ import annotations

import pyarrow as pa

from pinakes.caches.limits import is_cache_setting
from pinakes.config.settings import known
from pinakes.core.errors import InvalidArgument, SettingNotFound
from pinakes.engine.catalogs.global_settings import all_settings, change_global
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ResetOption, SetOption, ShowSession


def set_option(statement: SetOption, execution: Execution) -> Result:
    """SET name = value: changes a setting of the session. SHOW SESSION lists the settings.

    SET GLOBAL cache.name.limit = value changes a limit of a cache for all sessions until the process ends.
    """
    session = execution.session
    if statement.scope == "GLOBAL":
        change_global(session, lambda limits: limits.set(statement.name, statement.value))
    elif is_cache_setting(statement.name):
        raise InvalidArgument(f"{statement.name} concerns everybody: SET GLOBAL {statement.name} = …")
    else:
        session.change_settings(session.settings.with_value(statement.name, statement.value))
    return Result.done("SET")


def reset_option(statement: ResetOption, execution: Execution) -> Result:
    """RESET name | ALL: restores the configured value; RESET GLOBAL does so for the limits of caches."""
    session = execution.session
    if statement.scope == "GLOBAL":
        change_global(session, lambda limits: limits.reset(statement.name))
    else:
        session.change_settings(session.settings.with_default(statement.name, session.defaults))
    return Result.done("RESET")


_SETTINGS = pa.schema([(n, pa.string()) for n in ("Name", "Value", "Default", "Type", "Description")])


def show_session(statement: ShowSession, execution: Execution) -> Result:
    """SHOW SESSION | ALL | setting: lists settings with values, defaults and descriptions."""
    rows = all_settings(execution.session)
    if statement.setting is not None:
        name = statement.setting.lower() if is_cache_setting(statement.setting) else known(statement.setting)
        if all(row.name != name for row in rows):
            raise SettingNotFound(f"there is no global setting {name!r}; system.runtime.settings lists them")
        return Result.rows(pa.schema([(name, pa.string())]), [(r.value,) for r in rows if r.name == name])
    return Result.rows(_SETTINGS, [r for r in rows if statement.like is None or statement.like.matches(r.name)])
