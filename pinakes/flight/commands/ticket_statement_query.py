"""TicketStatementQuery: fetches the rows of a pending result. A result can be fetched once."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.core.errors import QueryCanceled
from pinakes.flight.commands.base import Command, Rows
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message
from pinakes.server.calls import GONE, Call
from pinakes.server.connections import PendingResult
from pinakes.server.service import Service


class TicketStatementQuery(Command):
    def rows(self, message: Message, request: FlightRequest) -> Rows:
        handle = message.statement_handle
        pending = request.service.pending.take(handle, request.user)
        if pending is None:
            raise request.service.pending.unknown()
        return Rows(pending.schema, lambda call: _fetched(request.service, handle, pending, call))


def _fetched(service: Service, handle: bytes, pending: PendingResult, call: Call) -> Iterator[pa.RecordBatch]:
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
