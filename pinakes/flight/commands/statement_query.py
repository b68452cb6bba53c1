"""CommandStatementQuery: runs a statement."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.describe import describe
from pinakes.flight.commands.base import Answer, Command
from pinakes.flight.commands.running import park, run
from pinakes.flight.limits import check_results, check_text
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import Message


class StatementQuery(Command):
    def info(self, message: Message, ask: RequestContext) -> Answer:
        check_results(ask)
        return park(ask, run(ask, ask.within(message.transaction_id), message.query))

    def schema(self, message: Message, ask: RequestContext) -> pa.Schema:
        """Returns the schema of the result without running the statement."""
        check_text(message.query, ask.service.statements)
        session = ask.within(message.transaction_id).session
        found = describe(session, message.query, ask.call.started).schema
        return ask.caller.client.schema(found or pa.schema([]))
