"""SHOW CACHES [LIKE p]: the caches of the engine. The rows are those of system.runtime.caches."""

from __future__ import annotations

from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.contexts import world_of
from pinakes.parser.statements import ShowCaches
from pinakes.system_tables import registry
from pinakes.system_tables.base import Request


def show_caches(statement: ShowCaches, execution: Execution) -> Result:
    table = registry.table("runtime", "caches")
    rows = table.read(Request(world_of(execution, None), frozenset(table.schema.names)))
    if statement.like is not None:
        names = rows.column("cache_name").to_pylist()
        rows = rows.filter([statement.like.matches(name) for name in names])
    return Result(rows.schema, rows.to_batches())
