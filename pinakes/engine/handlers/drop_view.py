"""DROP VIEW [IF EXISTS] name"""

from __future__ import annotations

from pinakes.core.errors import NotFoundError
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.capability import views
from pinakes.engine.result import Result
from pinakes.parser.statements import DropView


def drop_view(statement: DropView, execution: Execution) -> Result:
    try:
        found = execution.session.resolver.find(statement.name, kind="VIEW")
        views(found.place.mount).drop_view(found.place.namespace, found.name)
    except NotFoundError:
        if not statement.if_exists:
            raise
    return Result.done("DROP VIEW")
