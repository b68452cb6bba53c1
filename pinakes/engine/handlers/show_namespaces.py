"""SHOW NAMESPACES | SCHEMAS | DATABASES [IN x] [LIKE p]: one level, one listing call."""

from __future__ import annotations

from pinakes.core.names import dotted
from pinakes.engine.capability import namespaces
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.listings import one_column
from pinakes.engine.places import Place
from pinakes.engine.result import Result
from pinakes.parser.statements import ShowNamespaces


def show_namespaces(statement: ShowNamespaces, execution: Execution) -> Result:
    session = execution.session
    if statement.within is None:
        place = Place(session.catalogs.current(session.scope.catalog), ())
    else:
        place = session.resolver.namespace(statement.within)
    found = namespaces(place.mount).list_namespaces(place.namespace)
    return one_column("Schema", (dotted(n) for n in found), statement.like)
