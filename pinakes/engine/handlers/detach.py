"""DETACH [DATABASE] [IF EXISTS] name: a query that still runs on the catalog finishes."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.ownership import check_may_unmount
from pinakes.engine.result import Result
from pinakes.parser.statements import Detach


def detach(statement: Detach, execution: Execution) -> Result:
    session = execution.session
    registry = session.engine.registry
    if session.catalogs.own(session.catalogs.find(statement.name) or "") is not None:
        raise InvalidArgument(f"catalog '{statement.name}' belongs to the session and goes with it; DROP what is in it")
    if statement.if_exists and registry.find(statement.name) is None:
        return Result.done("DETACH")
    mount = registry.require(statement.name)
    check_may_unmount(mount, session.identity)
    registry.detach(statement.name)
    return Result.done("DETACH")
