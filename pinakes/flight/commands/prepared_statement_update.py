"""CommandPreparedStatementUpdate: runs a prepared update, once for each row of parameters in the stream."""

from __future__ import annotations

from typing import Any

from pinakes.flight.commands.base import Command
from pinakes.flight.commands.running import change_many, execute
from pinakes.flight.commands.statement_update import update_result
from pinakes.flight.parameters import SURE, read_parameters
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message


class PreparedStatementUpdate(Command):
    def put(self, message: Message, request: FlightRequest, reader: Any) -> bytes:
        prepared = request.prepared(message.prepared_statement_handle)
        given = read_parameters(reader, request, SURE)
        if given.num_columns:
            rows = prepared.arranged(given)
            assert rows is not None
            return update_result(request, change_many(request, prepared, rows))
        result = execute(request, prepared)
        result.close()
        return update_result(request, result.count)
