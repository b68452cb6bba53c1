"""SHOW SECRETS [LIKE p]: which secrets the user may use, and what uses them. Never a value."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.runtime import Runtime
from pinakes.parser.statements import ShowSecrets

_SCHEMA = pa.schema([(name, pa.string()) for name in ("Name", "Type", "Scope", "Used By")])


def show_secrets(statement: ShowSecrets, execution: Execution) -> Result:
    secrets = Runtime(execution.session).secrets()
    shown = [s for s in secrets if statement.like is None or statement.like.matches(s.name)]
    return Result.rows(_SCHEMA, [(s.name, s.type, s.scope, ", ".join(s.used_by)) for s in shown])
