"""ClosePreparedStatement: closes a prepared statement. An unknown handle is not an error."""

from __future__ import annotations

from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import unpack_as


def close_prepared_statement(body: bytes, ask: RequestContext) -> None:
    request = unpack_as("ActionClosePreparedStatementRequest", body)
    prepared = ask.service.prepared.take(request.prepared_statement_handle, ask.user)
    if prepared is not None:
        prepared.close()
