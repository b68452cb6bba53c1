"""CommandGetCatalogs: the catalogs that the session sees."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.engine.driver_metadata import asking
from pinakes.flight.commands.base import Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message
from pinakes.server.calls import Call

SCHEMA = pa.schema([required("catalog_name")])


class GetCatalogs(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        with asking(request.connection.session, "GetCatalogs", call.started) as metadata:
            names = metadata.catalogs()
        yield batch_of(SCHEMA, [(name,) for name in names])
