"""DETACH [DATABASE] [IF EXISTS] name: a query that still runs on the catalog finishes."""

from __future__ import annotations

from pinakes.core.errors import CatalogNotFound, InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.commands.ownership import check_may_unmount
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Detach


def detach(statement: Detach, execution: Execution) -> Result:
    unmount(execution.session, statement.name, if_exists=statement.if_exists)
    return Result.done("DETACH")


def unmount(session: Session, name: Part, *, if_exists: bool) -> None:
    try:
        mounted = session.catalogs.require(name)
        if mounted.is_private:
            raise InvalidArgument(
                f"catalog '{mounted.name}' belongs to the session and goes with it; DROP what is in it"
            )
        if mounted.is_system:
            raise InvalidArgument(f"catalog '{mounted.name}' is always there: it holds the system tables")
        check_may_unmount(mounted, session.identity)
        session.catalogs.detach(mounted)
    except CatalogNotFound:  # also when another session was faster
        if not if_exists:
            raise
