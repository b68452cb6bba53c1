"""The context of one Flight call."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.flight.wire_types import Client
from pinakes.server.service import RequestContext


@dataclass(frozen=True, slots=True)
class FlightRequest(RequestContext):
    """The context of a call, and the properties of the client that affect what it is sent."""

    client: Client
