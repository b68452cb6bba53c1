"""SHOW VIEWS [IN x] [LIKE p]: the views of one namespace; without IN, the session's temporary ones too."""

from __future__ import annotations

from pinakes.engine.binding.capabilities import views
from pinakes.engine.binding.namespaces import Place
from pinakes.engine.commands.listings import one_column
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowViews


def show_views(statement: ShowViews, execution: Execution) -> Result:
    resolver = execution.resolver
    place = resolver.namespace(statement.within, check=False)
    if statement.within is not None and not place.namespace:
        place = Place(place.mount, resolver.home(place.mount))
    names = set(views(place.mount).list_views(place.namespace))
    own = resolver.temporary_place()
    if statement.within is None and own is not None:
        names.update(views(own.mount).list_views(own.namespace))
    return one_column("View", names, statement.like)
