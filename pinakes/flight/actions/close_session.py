"""CloseSession: cancels the connection's statements, rolls back its transaction and drops its handles."""

from __future__ import annotations

from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import message, read

CLOSED = 1


def close_session(body: bytes, ask: RequestContext) -> bytes:
    read("CloseSessionRequest", body)
    ask.service.forget(ask.connection)
    return bytes(message("CloseSessionResult")(status=CLOSED).SerializeToString())
