"""CommandStatementUpdate: runs a statement that changes data, and returns the number of rows."""

from __future__ import annotations

from typing import Any

from pinakes.flight.commands.base import Command
from pinakes.flight.commands.running import run
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, message


class StatementUpdate(Command):
    def put(self, message: Message, request: FlightRequest, reader: Any) -> bytes:
        result = run(request, request.within(message.transaction_id), message.query)
        result.close()
        return update_result(request, result.count)


def update_result(request: FlightRequest, count: int | None) -> bytes:
    """Returns the encoded row count, or the client's placeholder when the count is unknown."""
    rows = request.client.uncounted if count is None else count
    return bytes(message("DoPutUpdateResult")(record_count=rows).SerializeToString())
