"""The server: maps each Flight call to a command or an action. Read this first.

- GetFlightInfo runs a statement, whose result is pending under a ticket (`commands/execution.py`). A metadata command
  is its own ticket.
- DoGet sends the rows of a ticket in batches (`streams.py`). `server/calls.py` watches for disconnected clients.
- DoPut changes data, binds parameters and ingests rows.
- DoAction handles prepared statements, transactions, session options and cancellation (`actions/`).

State between calls is in `server/service.py`, authentication in `authentication.py`, type conversion in
`wire_types.py`, and error conversion in `errors.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.config.server_limits import ServerLimits
from pinakes.core.errors import ConfigError, InvalidArgument, NotSupportedError, listing
from pinakes.engine.engine import Engine
from pinakes.flight.actions.table import ACTIONS
from pinakes.flight.authentication import COOKIE, AuthMiddleware, Caller, Handshake
from pinakes.flight.commands.base import Command, Rows
from pinakes.flight.commands.table import COMMANDS
from pinakes.flight.errors import error_boundary, without_status
from pinakes.flight.request import FlightRequest
from pinakes.flight.streams import as_sent
from pinakes.flight.wire.messages import Message, unpack
from pinakes.server.calls import Watch
from pinakes.server.connection_watch import ConnectionWatch
from pinakes.server.limits import check_message
from pinakes.server.logins.base import Authenticator
from pinakes.server.service import Service

DRAIN_GLANCE = 0.05
LEAVE_SECONDS = 3.0
_CALLER = "pinakes"
"""The key of the middleware in a call's context."""


class Certificates(NamedTuple):
    """The certificates of the server and, optionally, the authorities (PEM) that must have signed the certificates of
    clients. `are_users`: a client certificate identifies the user."""

    own: tuple[bytes, bytes]
    authorities: bytes | None = None
    are_users: bool = False


class FlightSqlServer(fl.FlightServerBase):  # type: ignore[misc]
    """Listens from construction on. `location` is grpc://host:port, or grpc+tls:// with a certificate."""

    def __init__(
        self,
        engine: Engine,
        location: str,
        authenticator: Authenticator,
        *,
        certificates: Certificates | None = None,
        administrators: Collection[str] = (),
        limits: ServerLimits | None = None,
        after: FlightSqlServer | None = None,
    ) -> None:
        """`after` is the previous listener, whose sessions and handles this one takes over."""
        limits = limits or engine.config.server.limits
        self._service: Service = Service(engine, limits) if after is None else after._service
        certified = certificates is not None and certificates.are_users
        self._gate: AuthMiddleware = (
            after._gate
            if after is not None
            else AuthMiddleware(
                authenticator,
                administrators=administrators,
                certificates=certified,
                idle=limits.session_idle,
                age=limits.session_age,
            )
        )
        authorities = certificates.authorities if certificates is not None else None
        try:
            super().__init__(
                location,
                # With an auth handler Arrow would not report the client certificate.
                auth_handler=None if certified else Handshake(),
                tls_certificates=[certificates.own] if certificates is not None else None,
                verify_client=authorities is not None,
                root_certificates=authorities,
                middleware={_CALLER: self._gate},
            )
        except pa.ArrowException as error:
            raise ConfigError(
                f"can't listen on {location}: {error}. Is the certificate one, and the key its own?"
            ) from error
        self._watch: Watch = Watch(limits.most_calls, self._sweep) if after is None else after._watch
        self._connections: ConnectionWatch = (
            ConnectionWatch(self.port, self._service.memory) if after is None else after._connections
        )
        self._gate.note_handshake = self._connections.note_handshake

    def held(self) -> dict[str, int]:
        """Returns the number of held objects and of running calls."""
        return {"calls": len(self._watch), **self._service.held()}

    def admit_by(
        self, authenticator: Authenticator, administrators: Collection[str], changed: Collection[str] | None
    ) -> None:
        """Replaces the authenticator; `changed` are the added, removed or changed users, None means all."""
        self._gate.admit_by(authenticator, administrators, changed)

    @property
    def stops(self) -> bool:
        return self._service.stops

    def drain(self, seconds: float, abort: threading.Event) -> int:
        """Stops accepting statements and waits up to `seconds` for running ones; returns how many are left."""
        self._service.stops = True
        until = time.monotonic() + seconds
        while (left := len(self._service.engine.tracker.alive())) and time.monotonic() < until:
            if abort.wait(DRAIN_GLANCE):
                break
        return left

    def close(self) -> bool:
        """Stops the server: running calls end with an error, transactions are rolled back. Returns whether all calls
        ended."""
        self._service.close()
        # `shutdown` waits for every call, also for a client that never reads its rows; such a call is abandoned.
        leaving = threading.Thread(target=self.shutdown, name="pinakes-flight-close", daemon=True)
        leaving.start()
        leaving.join(LEAVE_SECONDS)
        self._watch.close()
        self._connections.close()
        return not leaving.is_alive()

    # --- calls ----------------------------------------------------------------------------------------------------

    def get_flight_info(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor) -> fl.FlightInfo:
        with self._answering(context, len(descriptor.command or b"")) as request:
            command, message = _command(descriptor)
            answer = command.info(message, request)
            # No location: the rows are on the server that answers, also behind a proxy.
            endpoints = [fl.FlightEndpoint(answer.ticket, [])]
            return fl.FlightInfo(answer.schema, descriptor, endpoints, answer.records, -1)

    def get_schema(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor) -> fl.SchemaResult:
        with without_status(), self._answering(context, len(descriptor.command or b"")) as request:
            command, message = _command(descriptor)
            return fl.SchemaResult(command.schema(message, request))

    def do_get(self, context: fl.ServerCallContext, ticket: fl.Ticket) -> fl.FlightDataStream:
        with self._answering(context, len(ticket.ticket)) as request:
            name, message = unpack(ticket.ticket)
            rows = _known(name).rows(message, request)
            return fl.GeneratorStream(rows.schema, self._flow(context, rows))

    def do_put(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor, reader: Any, writer: Any) -> None:
        with self._answering(context, len(descriptor.command or b"")) as request:
            command, message = _command(descriptor)
            writer.write(pa.py_buffer(command.put(message, request, reader)))

    def do_action(self, context: fl.ServerCallContext, action: fl.Action) -> list[bytes]:
        with self._answering(context, action.body.size) as request:
            known = ACTIONS.get(action.type)
            if known is None:
                offered = listing((name for name, action in ACTIONS.items() if action.doc), most=len(ACTIONS))
                raise NotSupportedError(f"there is no action {action.type[:100]!r}; available: {offered}")
            answer = known.run(action.body.to_pybytes(), request)
            return [] if answer is None else [answer]

    def list_actions(self, context: fl.ServerCallContext) -> list[tuple[str, str]]:
        self._caller(context)
        return [(name, action.doc) for name, action in ACTIONS.items() if action.doc]

    def list_flights(self, context: fl.ServerCallContext, criteria: bytes) -> Iterator[fl.FlightInfo]:
        self._caller(context)
        with error_boundary():
            raise NotSupportedError("ListFlights is not supported: use the commands of Flight SQL")

    def do_exchange(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor, *_: Any) -> None:
        self._caller(context)
        with error_boundary():
            raise NotSupportedError("DoExchange is not supported: use the commands of Flight SQL")

    # --- shared by the calls ------------------------------------------------------------------------------------------

    @contextmanager
    def _answering(self, context: fl.ServerCallContext, size: int) -> Iterator[FlightRequest]:
        """Handles one call with a message of some bytes: authenticates it, converts its errors, watches it, and finds
        its connection."""
        caller = self._caller(context, size)
        user, peer = caller.identity.user, context.peer()
        note_message = partial(self._connections.note_message, peer, user)
        with (
            error_boundary(caller),
            self._watch.over(context, user, note_message) as call,
            self._service.memory.reserve(user, size) as memory,
        ):
            check_message(size, self._service.statements)
            connection, is_new = self._service.connection(caller.identity, caller.cookie, peer)
            if is_new:
                context.add_header("set-cookie", f"{COOKIE}={connection.cookie.decode()}; Path=/; HttpOnly")
            yield FlightRequest(self._service, caller.identity, connection, call, memory, caller.client)

    def _caller(self, context: fl.ServerCallContext, size: int = 0) -> Caller:
        """Returns the authenticated caller of a message. Every call does this first."""
        caller: Caller = context.get_middleware(_CALLER)
        self._gate.admit(caller, context)
        self._connections.note_message(context.peer(), caller.identity.user, size)
        return caller

    def _flow(self, context: fl.ServerCallContext, rows: Rows) -> Iterator[pa.RecordBatch]:
        caller: Caller = context.get_middleware(_CALLER)
        user, peer = caller.identity.user, context.peer()
        with error_boundary(caller), self._watch.over(context, user, goes_on=True) as call:
            for batch in as_sent(iter(rows.read(call)), rows.schema):
                self._connections.note_message(peer, user, 0)  # the client answers with updates of its windows
                yield batch

    def _sweep(self) -> None:
        self._service.sweep()
        self._gate.sweep()


def _command(descriptor: fl.FlightDescriptor) -> tuple[Command, Message]:
    if descriptor.command is None:
        raise InvalidArgument("only commands of Flight SQL are supported, not paths")
    name, message = unpack(descriptor.command)
    return _known(name), message


def _known(name: str) -> Command:
    command = COMMANDS.get(name)
    if command is None:
        raise InvalidArgument(f"{name} is not a command of Flight SQL")
    return command
