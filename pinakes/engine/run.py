"""The whole path of a statement. Read this first.

    SQL text -> classify -> Statement -> dispatch -> handler -> Result (schema + Arrow batches)

A query's handler gives its plan to DataFusion (`planner.py`) and its rows stream; every other handler goes straight
to the registry or a catalog. The tracker knows the statement from its first moment to its last row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinakes.engine.dispatch import dispatch
from pinakes.engine.errors import is_panic, let_go, translate
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.temporary import Lookup


def run(sql: str, session: Session, parameters: Mapping[str, Any], lookup: Lookup | None = None) -> Result:
    query = session.engine.tracker.start(session.identity.user, session.source, session.settings.statement_timeout)
    session.running.add(query)
    try:
        with query.phase("parse"):
            statement = session.engine.caches.statements.classify(sql)
        query.describe(statement.kind, statement.shown)
        result = dispatch(statement, Execution(session, query, sql, parameters, lookup))
    except BaseException as error:
        typed = translate(error) if isinstance(error, Exception) or is_panic(error) else error
        query.end(typed)
        let_go(error)
        if typed is error:
            raise
        raise typed from error
    if result.kind != "rows":
        query.end()  # it is done, whenever the result is looked at
    return result.watch(on_batch=query.count, on_end=query.end, stop=query.cancel)
