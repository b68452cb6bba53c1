"""CommandGetDbSchemas: the namespaces of catalogs. The levels of a nested namespace are joined by dots."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.engine.driver_metadata import Wanted, asking
from pinakes.flight.commands.base import TEXT, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, optional
from pinakes.server.calls import Call

SCHEMA = pa.schema([pa.field("catalog_name", TEXT), required("db_schema_name")])


class GetDbSchemas(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        wanted = Wanted(optional(message, "catalog"), optional(message, "db_schema_filter_pattern"))
        with asking(request.connection.session, "GetDbSchemas", call.started) as metadata:
            found = [(space.catalog, space.schema) for space in metadata.schemas(wanted)]
        yield batch_of(SCHEMA, found)
