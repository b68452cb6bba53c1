"""CommandStatementQuery: runs a statement."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.describe import describe
from pinakes.flight.commands.base import Answer, Command
from pinakes.flight.commands.running import park, run
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message
from pinakes.server.limits import check_results, check_text


class StatementQuery(Command):
    def info(self, message: Message, request: FlightRequest) -> Answer:
        check_results(request)
        return park(request, run(request, request.within(message.transaction_id), message.query))

    def schema(self, message: Message, request: FlightRequest) -> pa.Schema:
        """Returns the schema of the result without running the statement."""
        check_text(message.query, request)
        session = request.within(message.transaction_id).session
        found = describe(session, message.query, request.call.started).schema
        return request.client.schema(found or pa.schema([]))
