"""RenewFlightEndpoint: extends the lifetime of a pending result."""

from __future__ import annotations

import time

from pinakes.flight.actions.cancel_flight_info import statement_handles
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import read


def renew_flight_endpoint(body: bytes, ask: RequestContext) -> bytes:
    endpoint = read("RenewFlightEndpointRequest", body).endpoint
    for handle in statement_handles([endpoint.ticket.ticket]):
        ask.service.parked.get(handle, ask.user)  # this counts as a use
        endpoint.expiration_time.seconds = int(time.time() + ask.service.limits.result_ttl)
    return bytes(endpoint.SerializeToString())
