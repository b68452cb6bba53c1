"""PREPARE name AS statement: for this session, with parameters ? or $1; EXECUTE runs it with their values.

Kept as text.
"""

from __future__ import annotations

from pinakes.core.errors import AlreadyExistsError
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
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
