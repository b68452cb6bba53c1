"""DROP [TEMP] VIEW [IF EXISTS] name"""

from __future__ import annotations

from pinakes.core.errors import ViewNotFound
from pinakes.engine.binding.capabilities import views
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import DropView


def drop_view(statement: DropView, execution: Execution) -> Result:
    resolver = execution.resolver
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    if statement.if_exists and resolver.maybe(name, kind="VIEW") is None:
        return Result.done("DROP VIEW")
    found = resolver.find(name, kind="VIEW")
    try:
        views(found.place.mount, change=True).drop_view(found.place.namespace, found.name)
    except ViewNotFound:  # somebody else was faster
        if not statement.if_exists:
            raise
    return Result.done("DROP VIEW")
