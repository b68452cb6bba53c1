"""ALTER VIEW [IF EXISTS] name RENAME TO name | AS query | SET PROPERTIES (…) | UNSET PROPERTIES (…)"""

from __future__ import annotations

from dataclasses import replace

from pinakes.engine.binding.capabilities import views
from pinakes.engine.commands.create_view import view_of
from pinakes.engine.commands.renaming import renamed
from pinakes.engine.planning.planner import COLUMNS_GIVEN
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import AlterView


def alter_view(statement: AlterView, execution: Execution) -> Result:
    resolver = execution.resolver
    if statement.if_exists and resolver.maybe(statement.name, kind="VIEW") is None:
        return Result.done("ALTER VIEW")
    found = resolver.find(statement.name, kind="VIEW")
    catalog = views(found.place.mount, change=True)
    place = (found.place.namespace, found.name)
    if statement.rename_to is not None:
        catalog.rename_view(place, renamed(found, statement.rename_to, resolver))
        return Result.done("ALTER VIEW")
    view = catalog.load_view(*place)
    properties = {
        k: v for k, v in {**view.properties, **dict(statement.updates)}.items() if k not in statement.removals
    }
    if statement.body is not None:
        properties.pop(COLUMNS_GIVEN, None)
        changed = view_of(found, statement, statement.body, execution, [], properties, view.comment)
    else:
        changed = replace(view, properties=properties)
    catalog.create_view(*place, changed, replace=True)
    return Result.done("ALTER VIEW")
