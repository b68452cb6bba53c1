"""SHOW NAMESPACES | SCHEMAS | DATABASES [IN x] [LIKE p]: one level, one listing call."""

from __future__ import annotations

from pinakes.core.errors import NamespaceNotFound
from pinakes.core.names import INFORMATION_SCHEMA, dotted
from pinakes.engine.binding.capabilities import namespaces
from pinakes.engine.binding.namespaces import Place, no_namespace
from pinakes.engine.commands.listings import one_column
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import ShowNamespaces


def show_namespaces(statement: ShowNamespaces, execution: Execution) -> Result:
    session = execution.session
    if statement.within is None:
        place = Place(session.catalogs.current(session.scope.catalog), ())
    else:
        place = session.resolver.namespace(statement.within, check=False)
    return one_column("Schema", _names(place), statement.like)


def _names(place: Place) -> set[str]:
    """As information_schema.schemata has them: at the top of each catalog is its `information_schema`, too."""
    try:
        found = namespaces(place.mount).list_namespaces(place.namespace)
    except NamespaceNotFound:
        raise no_namespace(place.mount, place.namespace) from None
    own = set() if place.namespace or place.mount.is_system else {INFORMATION_SCHEMA}
    return own | {dotted(namespace) for namespace in found}
