"""CommandPreparedStatementUpdate: runs a prepared update, once for each row of parameters in the stream."""

from __future__ import annotations

from typing import Any

from pinakes.flight.commands.base import Command
from pinakes.flight.commands.running import change_many, execute
from pinakes.flight.commands.statement_update import update_result
from pinakes.flight.parameters import SURE, read_parameters
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import Message


class PreparedStatementUpdate(Command):
    def put(self, message: Message, ask: RequestContext, reader: Any) -> bytes:
        prepared = ask.prepared(message.prepared_statement_handle)
        given = read_parameters(reader, ask, SURE)
        if given.num_columns:
            rows = prepared.arranged(given)
            assert rows is not None
            return update_result(ask, change_many(ask, prepared, rows))
        result = execute(ask, prepared)
        result.close()
        return update_result(ask, result.count)
