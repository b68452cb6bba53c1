"""CancelFlightInfo: cancels the statement of a FlightInfo, whether its result is pending or being fetched."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.core.errors import InvalidArgument
from pinakes.flight.errors import NotThere
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import Message, message, read, unpack

CANCELLED, NOT_CANCELLABLE = 1, 3
_REASON = "its client asked for it"


def cancel_flight_info(body: bytes, ask: RequestContext) -> bytes:
    request = read("CancelFlightInfoRequest", body)
    status = cancel(request.info, ask)
    return bytes(message("CancelFlightInfoResult")(status=status).SerializeToString())


def cancel(info: Message, ask: RequestContext) -> int:
    """Cancels the statements of a FlightInfo and returns the status. A metadata command computes its rows in DoGet, so
    it is not cancellable."""
    handles = list(statement_handles(endpoint.ticket.ticket for endpoint in info.endpoint))
    if not handles:
        return NOT_CANCELLABLE
    found = [_stopped(handle, ask) for handle in handles]
    if not any(found):
        raise NotThere(ask.service.parked.unknown())
    return CANCELLED


def statement_handles(tickets: Iterable[bytes]) -> Iterable[bytes]:
    for ticket in tickets:
        name, content = unpack(ticket)
        if name == "TicketStatementQuery":
            yield content.statement_handle
        elif not name.startswith("CommandGet"):
            raise InvalidArgument(f"a {name} is no ticket")


def _stopped(handle: bytes, ask: RequestContext) -> bool:
    parked = ask.service.parked.take(handle, ask.user) or ask.service.flowing.get(handle)
    if parked is None or parked.user != ask.user:
        return False
    parked.cancel(_REASON)
    return True
