"""GetSessionOptions: returns the current catalog and schema, and the settings of the session."""

from __future__ import annotations

from pinakes.core.names import dotted
from pinakes.flight.actions.set_session_options import CATALOG, SCHEMA
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, read


def get_session_options(body: bytes, request: FlightRequest) -> bytes:
    read("GetSessionOptionsRequest", body)
    session = request.connection.session
    answer = message("GetSessionOptionsResult")()
    answer.session_options[CATALOG].string_value = session.scope.catalog
    answer.session_options[SCHEMA].string_value = dotted(session.scope.namespace)
    for row in session.settings.rows(session.defaults):
        answer.session_options[row.name].string_value = row.value
    return bytes(answer.SerializeToString())
