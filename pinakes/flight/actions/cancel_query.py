"""CancelQuery: the predecessor of CancelFlightInfo, for older clients."""

from __future__ import annotations

from pinakes.flight.actions.cancel_flight_info import cancel
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import message, pack, read, unpack_as


def cancel_query(body: bytes, ask: RequestContext) -> bytes:
    request = unpack_as("ActionCancelQueryRequest", body)
    result = cancel(read("FlightInfo", request.info), ask)
    return pack(message("ActionCancelQueryResult")(result=result))
