"""RenewFlightEndpoint: extends the lifetime of a pending result."""

from __future__ import annotations

import time

from pinakes.flight.actions.cancel_flight_info import statement_handles
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import read


def renew_flight_endpoint(body: bytes, request: FlightRequest) -> bytes:
    endpoint = read("RenewFlightEndpointRequest", body).endpoint
    for handle in statement_handles([endpoint.ticket.ticket]):
        request.service.pending.get(handle, request.user)  # this counts as a use
        endpoint.expiration_time.seconds = int(time.time() + request.service.limits.result_ttl)
    return bytes(endpoint.SerializeToString())
