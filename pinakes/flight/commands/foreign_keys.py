"""Base of the commands about foreign keys. They return no rows, since Iceberg has no foreign keys."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.flight.commands.base import NUMBER, TEXT, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message
from pinakes.server.calls import Call


def _side(prefix: str) -> list[pa.Field]:
    names = [pa.field(f"{prefix}_catalog_name", TEXT), pa.field(f"{prefix}_db_schema_name", TEXT)]
    return [*names, required(f"{prefix}_table_name"), required(f"{prefix}_column_name")]


SCHEMA = pa.schema(
    [
        *_side("pk"),
        *_side("fk"),
        required("key_sequence", NUMBER),
        pa.field("fk_key_name", TEXT),
        pa.field("pk_key_name", TEXT),
        required("update_rule", pa.uint8()),
        required("delete_rule", pa.uint8()),
    ]
)


class ForeignKeys(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        yield batch_of(SCHEMA, [])
