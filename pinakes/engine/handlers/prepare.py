"""PREPARE name AS statement: kept as text, per session; EXECUTE binds its parameters."""

from __future__ import annotations

from pinakes.core.errors import AlreadyExistsError
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Prepare


def prepare(statement: Prepare, execution: Execution) -> Result:
    session = execution.session
    body = statement.body.of(statement.text)
    session.engine.caches.statements.classify(body)
    name = statement.name.exact
    if name in session.prepared:
        raise AlreadyExistsError(f"prepared statement '{name}' exists already. DEALLOCATE it first.")
    session.prepared[name] = body
    return Result.done("PREPARE")
