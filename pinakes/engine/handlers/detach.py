"""DETACH [DATABASE] [IF EXISTS] name: a query that still runs on the catalog finishes."""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.handlers.ownership import check_may_unmount
from pinakes.engine.result import Result
from pinakes.parser.statements import Detach


def detach(statement: Detach, execution: Execution) -> Result:
    session = execution.session
    registry = session.engine.registry
    if statement.if_exists and registry.find(statement.name) is None:
        return Result.done("DETACH")
    mount = registry.require(statement.name)
    check_may_unmount(mount, session.identity)
    registry.detach(statement.name)
    return Result.done("DETACH")
