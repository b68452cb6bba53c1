"""CommandPreparedStatementQuery: runs a prepared statement; DoPut binds its parameters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.flight.commands.base import Answer, Command
from pinakes.flight.commands.running import execute, park
from pinakes.flight.limits import check_results
from pinakes.flight.parameters import read_parameters
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import Message, message


class PreparedStatementQuery(Command):
    def info(self, message: Message, ask: RequestContext) -> Answer:
        prepared = ask.prepared(message.prepared_statement_handle)
        check_results(ask)
        return park(ask, execute(ask, prepared))

    def schema(self, message: Message, ask: RequestContext) -> pa.Schema:
        prepared = ask.prepared(message.prepared_statement_handle)
        return ask.caller.client.schema(prepared.description.schema or pa.schema([]))

    def put(self, message_: Message, ask: RequestContext, reader: Any) -> bytes:
        handle = message_.prepared_statement_handle
        ask.prepared(handle).bind(read_parameters(reader, ask))
        return bytes(message("DoPutPreparedStatementResult")(prepared_statement_handle=handle).SerializeToString())
