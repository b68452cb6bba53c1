"""The table of actions: their functions, and the descriptions that `list_actions` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pinakes.flight.actions.begin_transaction import begin_transaction
from pinakes.flight.actions.cancel_flight_info import cancel_flight_info
from pinakes.flight.actions.cancel_query import cancel_query
from pinakes.flight.actions.close_prepared_statement import close_prepared_statement
from pinakes.flight.actions.close_session import close_session
from pinakes.flight.actions.create_prepared_statement import create_prepared_statement
from pinakes.flight.actions.end_transaction import end_transaction
from pinakes.flight.actions.get_session_options import get_session_options
from pinakes.flight.actions.refused import create_prepared_substrait_plan, savepoint
from pinakes.flight.actions.renew_flight_endpoint import renew_flight_endpoint
from pinakes.flight.actions.set_session_options import set_session_options
from pinakes.flight.actions.shell import answering
from pinakes.flight.actions.shell_look import shell_look
from pinakes.flight.actions.shell_run import shell_cancel, shell_progress, shell_run
from pinakes.flight.actions.shell_session import shell_session
from pinakes.flight.request import FlightRequest


class Action(NamedTuple):
    run: Callable[[bytes, FlightRequest], bytes | None]
    doc: str = ""
    """Empty for an unsupported action, which is not listed."""


ACTIONS: dict[str, Action] = {
    "CreatePreparedStatement": Action(create_prepared_statement, "Describes a statement and gives a handle to run it"),
    "ClosePreparedStatement": Action(close_prepared_statement, "Forgets a prepared statement"),
    "BeginTransaction": Action(begin_transaction, "Begins a transaction"),
    "EndTransaction": Action(end_transaction, "Commits a transaction or rolls it back"),
    "CancelFlightInfo": Action(cancel_flight_info, "Stops a statement"),
    "CancelQuery": Action(cancel_query, "Stops a statement, as older clients ask for it"),
    "RenewFlightEndpoint": Action(renew_flight_endpoint, "Keeps a result that was not fetched yet for longer"),
    "SetSessionOptions": Action(set_session_options, "Sets catalog, schema and settings of the session"),
    "GetSessionOptions": Action(get_session_options, "Returns catalog, schema and settings of the session"),
    "CloseSession": Action(close_session, "Ends the session"),
    "PinakesRun": Action(answering(shell_run), "Runs a statement of a remote shell"),
    "PinakesCancel": Action(answering(shell_cancel), "Stops a statement of a remote shell"),
    "PinakesProgress": Action(answering(shell_progress), "Returns the progress of a statement of a remote shell"),
    "PinakesSession": Action(answering(shell_session), "Returns the state of the session of a remote shell"),
    "PinakesLook": Action(answering(shell_look), "Returns tables, functions and names to a remote shell"),
    "CreatePreparedSubstraitPlan": Action(create_prepared_substrait_plan),
    "BeginSavepoint": Action(savepoint),
    "EndSavepoint": Action(savepoint),
}
