"""DROP [TEMP] VIEW [IF EXISTS] name"""

from __future__ import annotations

from pinakes.engine.capability import views
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import DropView


def drop_view(statement: DropView, execution: Execution) -> Result:
    resolver = execution.session.resolver
    name = resolver.as_temporary(statement.name) if statement.temporary else statement.name
    if statement.if_exists and resolver.maybe(name, kind="VIEW") is None:
        return Result.done("DROP VIEW")
    found = resolver.find(name, kind="VIEW")
    views(found.place.mount, change=True).drop_view(found.place.namespace, found.name)
    return Result.done("DROP VIEW")
