"""USE [CATALOG | NAMESPACE] name, USE namespace IN catalog."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.execution import Execution
from pinakes.engine.places import Place, Scope
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.parser.statements import Use


def use(statement: Use, execution: Execution) -> Result:
    session = execution.session
    if statement.catalog is not None:
        mount = session.catalogs.require(statement.catalog)
        session.remembered[mount.mount] = session.resolver.namespace_in(mount, statement.name).namespace
        return Result.done("USE")
    place = _place(statement, session)
    namespace = place.namespace or session.resolver.home(place.mount)
    session.scope = Scope(place.mount.name, namespace)
    return Result.done("USE")


def _place(statement: Use, session: Session) -> Place:
    if statement.what == "CATALOG":
        if len(statement.name.parts) > 1:
            raise InvalidArgument(f"USE CATALOG takes the name of a catalog, not {statement.name}")
        return Place(session.catalogs.require(statement.name.last), ())
    if statement.what == "NAMESPACE":
        return session.resolver.namespace_in(session.catalogs.current(session.scope.catalog), statement.name)
    return session.resolver.namespace(statement.name)
