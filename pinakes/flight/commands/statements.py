"""The commands that run statements: queries, updates, prepared statements, and the tickets that fetch rows.

Substrait plans are not supported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pyarrow as pa

from pinakes.core.errors import NotSupportedError, QueryCanceled
from pinakes.engine.describe import describe
from pinakes.flight.commands.base import Answer, Command, Rows
from pinakes.flight.commands.execution import change_many, execute, park, run
from pinakes.flight.parameters import SURE, read_parameters
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, message
from pinakes.server.calls import GONE, Call
from pinakes.server.connections import PendingResult
from pinakes.server.limits import check_results, check_text
from pinakes.server.service import Service


class StatementQuery(Command):
    """Runs a statement."""

    def info(self, message: Message, request: FlightRequest) -> Answer:
        check_results(request)
        return park(request, run(request, request.within(message.transaction_id), message.query))

    def schema(self, message: Message, request: FlightRequest) -> pa.Schema:
        """Returns the schema of the result without running the statement."""
        check_text(message.query, request)
        session = request.within(message.transaction_id).session
        found = describe(session, message.query, request.call.started).schema
        return request.client.schema(found or pa.schema([]))


class TicketStatementQuery(Command):
    """Fetches the rows of a pending result. A result can be fetched once."""

    def rows(self, message: Message, request: FlightRequest) -> Rows:
        handle = message.statement_handle
        pending = request.service.pending.take(handle, request.user)
        if pending is None:
            raise request.service.pending.unknown()
        return Rows(pending.schema, lambda call: _fetch(request.service, handle, pending, call))


def _fetch(service: Service, handle: bytes, pending: PendingResult, call: Call) -> Iterator[pa.RecordBatch]:
    service.flowing[handle] = pending
    call.waits_for(pending.result.stop)
    batches = iter(pending.result)  # keep a reference: dropping it would end the query before it is stopped
    try:
        for batch in batches:  # noqa: UP028 - `yield from` would also close it first
            yield batch
        if pending.stopped is not None:  # the stream ended because the result was canceled
            raise QueryCanceled(f"the query was canceled: {pending.stopped}")
    except GeneratorExit:  # the client reads no more batches
        pending.result.stop(GONE)
        raise
    finally:
        service.flowing.pop(handle, None)
        pending.close()


class StatementUpdate(Command):
    """Runs a statement that changes data, and returns the number of rows."""

    def put(self, message: Message, request: FlightRequest, reader: Any) -> bytes:
        result = run(request, request.within(message.transaction_id), message.query)
        result.close()
        return update_result(request, result.count)


def update_result(request: FlightRequest, count: int | None) -> bytes:
    """Returns the encoded row count, or the client's placeholder when the count is unknown."""
    rows = request.client.uncounted if count is None else count
    return bytes(message("DoPutUpdateResult")(record_count=rows).SerializeToString())


class PreparedStatementQuery(Command):
    """Runs a prepared statement; DoPut binds its parameters."""

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


class PreparedStatementUpdate(Command):
    """Runs a prepared update, once for each row of parameters in the stream."""

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


class StatementSubstraitPlan(Command):
    """Substrait plans are not supported: each method raises NotSupportedError."""

    def info(self, message: Message, request: FlightRequest) -> NoReturn:
        raise no_substrait()

    def schema(self, message: Message, request: FlightRequest) -> NoReturn:
        raise no_substrait()

    def put(self, message: Message, request: FlightRequest, reader: Any) -> NoReturn:
        raise no_substrait()


def no_substrait() -> NotSupportedError:
    return NotSupportedError("this server takes no Substrait plans: send the statement as SQL (CommandStatementQuery)")
