"""CancelQuery: the predecessor of CancelFlightInfo, for older clients."""

from __future__ import annotations

from pinakes.flight.actions.cancel_flight_info import cancel
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, pack, read, unpack_as


def cancel_query(body: bytes, request: FlightRequest) -> bytes:
    command = unpack_as("ActionCancelQueryRequest", body)
    result = cancel(read("FlightInfo", command.info), request)
    return pack(message("ActionCancelQueryResult")(result=result))
