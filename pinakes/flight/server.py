"""The server: every call of Flight finds the command or action that answers it. Read this first.

    GetFlightInfo   a statement is carried out and its rows wait under a ticket (`commands/running.py`); a question
                    about metadata is its own ticket
    DoGet           the rows of a ticket, in pieces, while `streams.py` watches whether the client is still there
    DoPut           changes, bound parameters, ingested rows
    DoAction        prepared statements, transactions, session options, cancel (`actions/`)

What is kept between calls is in `service.py`, who calls in `authentication.py`, what may go over the wire in
`wire_types.py`, and what becomes of errors in `errors.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.core.errors import ConfigError, InvalidArgument, NotSupportedError, listing
from pinakes.core.server_limits import ServerLimits
from pinakes.engine.engine import Engine
from pinakes.flight.actions.table import ACTIONS
from pinakes.flight.authentication import Caller, Gate, Handshake
from pinakes.flight.commands.base import Command, Rows
from pinakes.flight.commands.table import COMMANDS
from pinakes.flight.errors import told, without_status
from pinakes.flight.logins.base import Authenticator
from pinakes.flight.service import Ask, Service
from pinakes.flight.streams import Watch, as_sent
from pinakes.flight.wire.messages import Message, unpack

DRAIN_GLANCE = 0.05
LEAVE_SECONDS = 3.0
_CALLER = "pinakes"
"""Under this key a call's middleware is found."""


class Certificates(NamedTuple):
    """What the server shows, and what its clients must: a certificate that one of the authorities (PEM) has signed, if
    there are any; it may say who they are."""

    own: tuple[bytes, bytes]
    authorities: bytes | None = None
    are_users: bool = False


class FlightSqlServer(fl.FlightServerBase):  # type: ignore[misc]
    """Listens from the moment it is made. `location` is grpc://host:port, or grpc+tls:// with a certificate."""

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
        """`after` is the one that listened here before: its clients find what they hold."""
        limits = limits or engine.config.server.limits
        self._service: Service = Service(engine, limits) if after is None else after._service
        certified = certificates is not None and certificates.are_users
        self._gate: Gate = (
            after._gate
            if after is not None
            else Gate(
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
                # With a handler of its own, Arrow would not tell whose certificate it is.
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

    def held(self) -> dict[str, int]:
        """What it holds at this moment, and the calls that run."""
        return {"calls": len(self._watch), **self._service.held()}

    def admit_by(
        self, authenticator: Authenticator, administrators: Collection[str], changed: Collection[str] | None
    ) -> None:
        """Who calls from now on is told by another: these users came, went or have other passwords; None is any."""
        self._gate.admit_by(authenticator, administrators, changed)

    @property
    def stops(self) -> bool:
        return self._service.stops

    def drain(self, seconds: float, hurry: threading.Event) -> int:
        """Begin nothing new and wait for what runs, so long at most; how many statements are left."""
        self._service.stops = True
        until = time.monotonic() + seconds
        while (left := len(self._service.engine.tracker.alive())) and time.monotonic() < until:
            if hurry.wait(DRAIN_GLANCE):
                break
        return left

    def close(self) -> bool:
        """Stop: calls that run end with an error, what was not committed is rolled back. Whether all calls ended."""
        self._service.close()
        # It waits for every call, also for one whose client takes no rows and stays: such a one is left behind.
        leaving = threading.Thread(target=self.shutdown, name="pinakes-flight-close", daemon=True)
        leaving.start()
        leaving.join(LEAVE_SECONDS)
        self._watch.close()
        return not leaving.is_alive()

    # --- calls ----------------------------------------------------------------------------------------------------

    def get_flight_info(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor) -> fl.FlightInfo:
        with self._answering(context) as ask:
            command, message = _command(descriptor)
            answer = command.info(message, ask)
            # No location: the rows are where the answer came from, also behind a proxy.
            endpoints = [fl.FlightEndpoint(answer.ticket, [])]
            return fl.FlightInfo(answer.schema, descriptor, endpoints, answer.records, -1)

    def get_schema(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor) -> fl.SchemaResult:
        with without_status(), self._answering(context) as ask:
            command, message = _command(descriptor)
            return fl.SchemaResult(command.schema(message, ask))

    def do_get(self, context: fl.ServerCallContext, ticket: fl.Ticket) -> fl.FlightDataStream:
        with self._answering(context) as ask:
            name, message = unpack(ticket.ticket)
            rows = _known(name).rows(message, ask)
            return fl.GeneratorStream(rows.schema, self._flow(context, rows, ask.caller))

    def do_put(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor, reader: Any, writer: Any) -> None:
        with self._answering(context) as ask:
            command, message = _command(descriptor)
            writer.write(pa.py_buffer(command.put(message, ask, reader)))

    def do_action(self, context: fl.ServerCallContext, action: fl.Action) -> list[bytes]:
        with self._answering(context) as ask:
            known = ACTIONS.get(action.type)
            if known is None:
                offered = listing((name for name, action in ACTIONS.items() if action.doc), most=len(ACTIONS))
                raise NotSupportedError(f"there is no action {action.type[:100]!r}; there are: {offered}")
            answer = known.run(action.body.to_pybytes(), ask)
            return [] if answer is None else [answer]

    def list_actions(self, context: fl.ServerCallContext) -> list[tuple[str, str]]:
        self._caller(context)
        return [(name, action.doc) for name, action in ACTIONS.items() if action.doc]

    def list_flights(self, context: fl.ServerCallContext, criteria: bytes) -> Iterator[fl.FlightInfo]:
        self._caller(context)
        with told():
            raise NotSupportedError("there is no list of flights here: ask with the commands of Flight SQL")

    def do_exchange(self, context: fl.ServerCallContext, descriptor: fl.FlightDescriptor, *_: Any) -> None:
        self._caller(context)
        with told():
            raise NotSupportedError("Flight SQL has no exchanges: ask with its commands")

    # --- what they share ------------------------------------------------------------------------------------------

    @contextmanager
    def _answering(self, context: fl.ServerCallContext) -> Iterator[Ask]:
        """One call: watched, its errors told, on its own connection."""
        caller = self._caller(context)
        with told(caller), self._watch.over(context, caller.identity.user) as call:
            yield Ask(self._service, caller, self._service.connection(caller, context), call)

    def _caller(self, context: fl.ServerCallContext) -> Caller:
        """Who calls. Nothing is answered before this."""
        caller: Caller = context.get_middleware(_CALLER)
        self._gate.admit(caller, context)
        return caller

    def _flow(self, context: fl.ServerCallContext, rows: Rows, caller: Caller) -> Iterator[pa.RecordBatch]:
        with told(caller), self._watch.over(context, caller.identity.user, goes_on=True) as call:
            yield from as_sent(iter(rows.read(call)), rows.schema)

    def _sweep(self) -> None:
        self._service.sweep()
        self._gate.sweep()


def _command(descriptor: fl.FlightDescriptor) -> tuple[Command, Message]:
    if descriptor.command is None:
        raise InvalidArgument("this server answers the commands of Flight SQL: paths name nothing here")
    name, message = unpack(descriptor.command)
    return _known(name), message


def _known(name: str) -> Command:
    command = COMMANDS.get(name)
    if command is None:
        raise InvalidArgument(f"{name} is no command of Flight SQL")
    return command
