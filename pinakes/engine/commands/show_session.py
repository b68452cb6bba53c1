"""SHOW SESSION | ALL | setting: what SET may change, with defaults and descriptions."""

from __future__ import annotations

import pyarrow as pa

from pinakes.caches.limits import is_cache_setting
from pinakes.core.errors import SettingNotFound
from pinakes.core.settings import known
from pinakes.engine.catalogs.global_settings import all_settings
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowSession

_SETTINGS = pa.schema([(n, pa.string()) for n in ("Name", "Value", "Default", "Type", "Description")])


def show_session(statement: ShowSession, execution: Execution) -> Result:
    rows = all_settings(execution.session)
    if statement.setting is not None:
        name = statement.setting.lower() if is_cache_setting(statement.setting) else known(statement.setting)
        if all(row.name != name for row in rows):
            raise SettingNotFound(f"there is no global setting {name!r}; system.runtime.settings lists them")
        return Result.rows(pa.schema([(name, pa.string())]), [(r.value,) for r in rows if r.name == name])
    return Result.rows(_SETTINGS, [r for r in rows if statement.like is None or statement.like.matches(r.name)])
