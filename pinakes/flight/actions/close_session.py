"""CloseSession: cancels the connection's statements, rolls back its transaction and drops its handles."""

from __future__ import annotations

from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, read

CLOSED = 1


def close_session(body: bytes, request: FlightRequest) -> bytes:
    read("CloseSessionRequest", body)
    request.service.forget(request.connection)
    return bytes(message("CloseSessionResult")(status=CLOSED).SerializeToString())
