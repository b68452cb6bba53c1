"""CancelFlightInfo: cancels the statement of a FlightInfo, whether its result is pending or being fetched."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.core.errors import InvalidArgument
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, message, read, unpack

CANCELLED, NOT_CANCELLABLE = 1, 3
_REASON = "its client canceled it"


def cancel_flight_info(body: bytes, request: FlightRequest) -> bytes:
    command = read("CancelFlightInfoRequest", body)
    status = cancel(command.info, request)
    return bytes(message("CancelFlightInfoResult")(status=status).SerializeToString())


def cancel(info: Message, request: FlightRequest) -> int:
    """Cancels the statements of a FlightInfo and returns the status. A metadata command computes its rows in DoGet, so
    it is not cancellable."""
    handles = list(statement_handles(endpoint.ticket.ticket for endpoint in info.endpoint))
    if not handles:
        return NOT_CANCELLABLE
    found = [_stopped(handle, request) for handle in handles]
    if not any(found):
        raise request.service.pending.unknown()
    return CANCELLED


def statement_handles(tickets: Iterable[bytes]) -> Iterable[bytes]:
    for ticket in tickets:
        name, content = unpack(ticket)
        if name == "TicketStatementQuery":
            yield content.statement_handle
        elif not name.startswith("CommandGet"):
            raise InvalidArgument(f"a {name} is not a ticket")


def _stopped(handle: bytes, request: FlightRequest) -> bool:
    pending = request.service.pending.take(handle, request.user) or request.service.flowing.get(handle)
    if pending is None or pending.user != request.user:
        return False
    pending.cancel(_REASON)
    return True
