"""USE [CATALOG | NAMESPACE] name, USE namespace IN catalog."""

from __future__ import annotations

from pinakes.core.catalog import SupportsNamespaces
from pinakes.core.errors import CatalogUnavailable, InvalidArgument
from pinakes.core.names import Namespace
from pinakes.engine.binding.namespaces import Place, Scope
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Use

DEFAULT: Namespace = ("default",)


def use(statement: Use, execution: Execution) -> Result:
    session = execution.session
    if statement.catalog is not None:
        mount = session.catalogs.require(statement.catalog)
        session.remembered[mount.mount] = session.resolver.namespace_in(mount, statement.name).namespace
        return Result.done("USE")
    place = _place(statement, session)
    namespace = place.namespace or session.resolver.home(place.mount) or _usual(place)
    session.scope = Scope(place.mount.name, namespace)
    return Result.done("USE")


def _usual(place: Place) -> Namespace:
    """Of a catalog that says nothing about it: its namespace `default`, if it has one. Most have, and few of them can
    hold tables outside of any namespace."""
    catalog = place.mount.catalog
    try:
        has_default = isinstance(catalog, SupportsNamespaces) and catalog.namespace_exists(DEFAULT)
    except CatalogUnavailable:  # whoever reads a table of it is told
        return ()
    return DEFAULT if has_default else ()


def _place(statement: Use, session: Session) -> Place:
    if statement.what == "CATALOG":
        if len(statement.name.parts) > 1:
            raise InvalidArgument(f"USE CATALOG takes the name of a catalog, not {statement.name}")
        return Place(session.catalogs.require(statement.name.last), ())
    if statement.what == "NAMESPACE":
        return session.resolver.namespace_in(session.catalogs.current(session.scope.catalog), statement.name)
    return session.resolver.namespace(statement.name)
