"""CommandGetPrimaryKeys: the columns of a table's primary key, which are Iceberg's identifier fields."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.engine.driver_metadata import Wanted, asking, exactly
from pinakes.flight.commands.base import NUMBER, TEXT, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, optional
from pinakes.server.calls import Call

SCHEMA = pa.schema(
    [
        pa.field("catalog_name", TEXT),
        pa.field("db_schema_name", TEXT),
        required("table_name"),
        required("column_name"),
        pa.field("key_name", TEXT),
        required("key_sequence", NUMBER),
    ]
)


class GetPrimaryKeys(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        schema = exactly(optional(message, "db_schema"))
        wanted = Wanted(optional(message, "catalog"), schema, exactly(message.table))
        with asking(request.connection.session, "GetPrimaryKeys", call.started) as metadata:
            found = metadata.keys(wanted)
        places = [(key.constraint.entry, key) for key in found]
        yield batch_of(
            SCHEMA, [(e.catalog, e.schema, e.name, k.column, k.constraint.name, k.position) for e, k in places]
        )
