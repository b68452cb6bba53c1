"""CommandGetTableTypes: the table types."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.flight.commands.base import Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message
from pinakes.server.calls import Call
from pinakes.system_tables.jdbc.tables import TYPES

SCHEMA = pa.schema([required("table_type")])


class GetTableTypes(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        yield batch_of(SCHEMA, [(name,) for name in sorted(TYPES.values())])
