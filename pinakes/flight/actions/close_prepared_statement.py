"""ClosePreparedStatement: closes a prepared statement. An unknown handle is not an error."""

from __future__ import annotations

from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import unpack_as


def close_prepared_statement(body: bytes, request: FlightRequest) -> None:
    command = unpack_as("ActionClosePreparedStatementRequest", body)
    prepared = request.service.prepared.take(command.prepared_statement_handle, request.user)
    if prepared is not None:
        prepared.close()
