"""SHOW TABLES [IN x] [LIKE p]: tables and views of one namespace; without IN, the session's temporary ones too."""

from __future__ import annotations

from pinakes.engine.binding.namespaces import Place, objects
from pinakes.engine.commands.listings import one_column
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowTables


def show_tables(statement: ShowTables, execution: Execution) -> Result:
    resolver = execution.resolver
    place = resolver.namespace(statement.within, check=False)
    if statement.within is not None and not place.namespace:
        place = Place(place.mount, resolver.home(place.mount))
    names = set(objects(place.mount.catalog, place))
    own = resolver.temporary_place()
    if statement.within is None and own is not None:
        names.update(objects(own.mount.catalog, own))
    return one_column("Table", names, statement.like)
