"""Flight SQL actions that this server does not support."""

from __future__ import annotations

from typing import NoReturn

from pinakes.core.errors import NotSupportedError
from pinakes.flight.commands.statements import no_substrait
from pinakes.flight.request import FlightRequest


def create_prepared_substrait_plan(body: bytes, request: FlightRequest) -> NoReturn:
    raise no_substrait()


def savepoint(body: bytes, request: FlightRequest) -> NoReturn:
    raise NotSupportedError("there are no savepoints: a transaction is committed or rolled back as a whole")
