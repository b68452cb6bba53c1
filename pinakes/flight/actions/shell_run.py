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
from pinakes.flight.actions.shell_session import session_values
from pinakes.flight.commands.execution import park
from pinakes.flight.errors import for_caller
from pinakes.flight.request import FlightRequest
from pinakes.server.limits import check_results, check_text


def shell_run(body: Body, request: FlightRequest) -> dict[str, Any]:
    """Runs a statement. Returns its kind and count, the ticket of its rows, or its error with the session state."""
    session, sql, which = text(body, "session"), text(body, "sql"), number(body, "id")
    if session != request.connection.cookie.decode():
        raise SessionLost("the session has ended: the server was restarted or has closed it")
    try:
        check_text(sql, request)
        check_results(request)
        request.service.check_taking(request.connection)
        result = request.connection.session.run(sql, started=lambda query: _started(request, which, query))
    except PinakesError as error:
        return {"failed": as_values(for_caller(error, request.identity)), "session": session_values(request)}
    return _answer(result, request)


def _started(request: FlightRequest, which: int, query: Query) -> None:
    request.connection.latest = (which, query)
    request.call.started(query)


def _answer(result: Result, request: FlightRequest) -> dict[str, Any]:
    if result.kind != "rows":
        result.close()
        return {"kind": result.kind, "count": result.count, "session": session_values(request)}
    return {"kind": "rows", "ticket": base64.b64encode(park(request, result).ticket).decode()}


def shell_cancel(body: Body, request: FlightRequest) -> bool:
    """Cancels the statement. Returns whether it was still running."""
    query = _query(body, request)
    return query is not None and query.cancel()


def shell_progress(body: Body, request: FlightRequest) -> tuple[str, int, str] | None:
    """Returns the state of the statement, its number of rows so far, and the progress that a remote engine reports."""
    return work_of(_query(body, request))


def _query(body: Body, request: FlightRequest) -> Query | None:
    """Returns the statement of this number if it is the latest one, so that a late cancel does not hit the next
    statement."""
    which, latest = number(body, "id"), request.connection.latest
    return latest[1] if latest is not None and latest[0] == which else None
