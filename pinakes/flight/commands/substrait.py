"""Substrait plans are not supported: each method raises NotSupportedError."""

from __future__ import annotations

from typing import Any, NoReturn

from pinakes.core.errors import NotSupportedError
from pinakes.flight.commands.base import Command
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message


class StatementSubstraitPlan(Command):
    def info(self, message: Message, request: FlightRequest) -> NoReturn:
        raise no_substrait()

    def schema(self, message: Message, request: FlightRequest) -> NoReturn:
        raise no_substrait()

    def put(self, message: Message, request: FlightRequest, reader: Any) -> NoReturn:
        raise no_substrait()


def no_substrait() -> NotSupportedError:
    return NotSupportedError("this server takes no Substrait plans: send the statement as SQL (CommandStatementQuery)")
