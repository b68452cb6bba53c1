"""SHOW SESSION | ALL | setting: what SET may change, with defaults and descriptions."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.settings import known
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import ShowSession

_SETTINGS = pa.schema([(n, pa.string()) for n in ("Name", "Value", "Default", "Description")])


def show_session(statement: ShowSession, execution: Execution) -> Result:
    session = execution.session
    rows = session.settings.rows(session.defaults)
    if statement.setting is not None:
        name = known(statement.setting)
        return Result.rows(pa.schema([(name, pa.string())]), [(r.value,) for r in rows if r.name == name])
    return Result.rows(_SETTINGS, [r for r in rows if statement.like is None or statement.like.matches(r.name)])
