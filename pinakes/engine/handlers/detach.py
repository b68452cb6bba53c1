"""DETACH [DATABASE] [IF EXISTS] name: a query that still runs on the catalog finishes."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.ownership import check_may_unmount
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.parser.statements import Detach


def detach(statement: Detach, execution: Execution) -> Result:
    unmount(execution.session, statement.name, if_exists=statement.if_exists)
    return Result.done("DETACH")


def unmount(session: Session, name: Part, *, if_exists: bool) -> None:
    catalogs = session.catalogs
    if if_exists and catalogs.find(name) is None:
        return
    mounted = catalogs.require(name)
    if mounted.is_private:
        raise InvalidArgument(f"catalog '{mounted.name}' belongs to the session and goes with it; DROP what is in it")
    check_may_unmount(mounted, session.identity)
    catalogs.detach(mounted)
