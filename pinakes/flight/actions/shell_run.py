"""PinakesRun, PinakesCancel, PinakesProgress: the statements of a remote shell, which numbers them.

A statement names its session. After a restart the server would run it in a new session, with another default namespace,
other settings and no transaction: an INSERT could write to another table and commit at once.
"""

from __future__ import annotations

import base64
from typing import Any

from pinakes.api.local_shell_backend import work_of
from pinakes.core.errors import PinakesError, SessionLost
from pinakes.core.portable_errors import as_values
from pinakes.engine.execution.query import Query
from pinakes.engine.result import Result
from pinakes.flight.actions.shell import Body, number, text
from pinakes.flight.actions.shell_session import told
from pinakes.flight.commands.running import park
from pinakes.flight.errors import for_caller
from pinakes.flight.limits import check_results, check_text
from pinakes.flight.service import RequestContext


def shell_run(body: Body, ask: RequestContext) -> dict[str, Any]:
    """Runs a statement. Returns its kind and count, the ticket of its rows, or its error with the session state."""
    session, sql, which = text(body, "session"), text(body, "sql"), number(body, "id")
    if session != ask.connection.cookie.decode():
        raise SessionLost("the session is gone: the server was restarted, or had closed it")
    try:
        check_text(sql, ask.service.statements)
        check_results(ask)
        ask.service.check_taking(ask.connection)
        result = ask.connection.session.run(sql, started=lambda query: _started(ask, which, query))
    except PinakesError as error:
        return {"failed": as_values(for_caller(error, ask.caller.identity)), "session": told(ask)}
    return _answer(result, ask)


def _started(ask: RequestContext, which: int, query: Query) -> None:
    ask.connection.latest = (which, query)
    ask.call.started(query)


def _answer(result: Result, ask: RequestContext) -> dict[str, Any]:
    if result.kind != "rows":
        result.close()
        return {"kind": result.kind, "count": result.count, "session": told(ask)}
    return {"kind": "rows", "ticket": base64.b64encode(park(ask, result).ticket).decode()}


def shell_cancel(body: Body, ask: RequestContext) -> bool:
    """Cancels the statement. Returns whether it was still running."""
    query = _query(body, ask)
    return query is not None and query.cancel()


def shell_progress(body: Body, ask: RequestContext) -> tuple[str, int, str] | None:
    """Returns the state of the statement, its number of rows so far, and the progress that a remote engine reports."""
    return work_of(_query(body, ask))


def _query(body: Body, ask: RequestContext) -> Query | None:
    """Returns the statement of this number if it is the latest one, so that a late cancel does not hit the next
    statement."""
    which, latest = number(body, "id"), ask.connection.latest
    return latest[1] if latest is not None and latest[0] == which else None
