"""DETACH [DATABASE] [IF EXISTS] name: a query that still runs on the catalog finishes."""

from __future__ import annotations

from pinakes.core.errors import PermissionDenied
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Detach


def detach(statement: Detach, execution: Execution) -> Result:
    session = execution.session
    registry = session.engine.registry
    if statement.if_exists and registry.find(statement.name) is None:
        return Result.done("DETACH")
    mount = registry.require(statement.name)
    if mount.origin == "config" and not session.identity.is_admin:
        raise PermissionDenied(
            f"catalog '{mount.name}' comes from the configuration: only an administrator may detach it"
        )
    registry.detach(statement.name)
    return Result.done("DETACH")
