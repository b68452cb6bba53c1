"""TicketStatementQuery: fetches the rows of a pending result. A result can be fetched once."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.core.errors import QueryCanceled
from pinakes.flight.commands.base import Command, Rows
from pinakes.flight.connections import PendingResult
from pinakes.flight.errors import NotThere
from pinakes.flight.service import RequestContext, Service
from pinakes.flight.streams import GONE, Call
from pinakes.flight.wire.messages import Message


class TicketStatementQuery(Command):
    def rows(self, message: Message, ask: RequestContext) -> Rows:
        handle = message.statement_handle
        parked = ask.service.parked.take(handle, ask.user)
        if parked is None:
            raise NotThere(ask.service.parked.unknown())
        return Rows(parked.schema, lambda call: _fetched(ask.service, handle, parked, call))


def _fetched(service: Service, handle: bytes, parked: PendingResult, call: Call) -> Iterator[pa.RecordBatch]:
    service.flowing[handle] = parked
    call.waits_for(parked.result.stop)
    batches = iter(parked.result)  # keep a reference: dropping it would end the query before it is stopped
    try:
        for batch in batches:  # noqa: UP028 - `yield from` would also close it first
            yield batch
        if parked.stopped is not None:  # the stream ended because the result was canceled
            raise QueryCanceled(f"the query was canceled: {parked.stopped}")
    except GeneratorExit:  # the client reads no more batches
        parked.result.stop(GONE)
        raise
    finally:
        service.flowing.pop(handle, None)
        parked.result.close()
