"""CommandPreparedStatementQuery: runs a prepared statement; DoPut binds its parameters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.flight.commands.base import Answer, Command
from pinakes.flight.commands.running import execute, park
from pinakes.flight.parameters import read_parameters
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, message
from pinakes.server.limits import check_results


class PreparedStatementQuery(Command):
    def info(self, message: Message, request: FlightRequest) -> Answer:
        prepared = request.prepared(message.prepared_statement_handle)
        check_results(request)
        return park(request, execute(request, prepared))

    def schema(self, message: Message, request: FlightRequest) -> pa.Schema:
        prepared = request.prepared(message.prepared_statement_handle)
        return request.client.schema(prepared.description.schema or pa.schema([]))

    def put(self, message_: Message, request: FlightRequest, reader: Any) -> bytes:
        handle = message_.prepared_statement_handle
        prepared = request.prepared(handle)
        rows = read_parameters(reader, request)
        prepared.bind(rows, request.memory)
        return bytes(message("DoPutPreparedStatementResult")(prepared_statement_handle=handle).SerializeToString())
