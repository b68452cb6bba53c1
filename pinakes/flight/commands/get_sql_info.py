"""CommandGetSqlInfo: properties of the server and of its SQL dialect (`sql_info.py`)."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.flight.commands.base import Listing
from pinakes.flight.request import FlightRequest
from pinakes.flight.sql_info import SCHEMA, batch, informed
from pinakes.flight.wire.messages import Message
from pinakes.server.calls import Call


class GetSqlInfo(Listing):
    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        limits = request.service.limits
        known = informed(limits.prepared_ttl, limits.transaction_ttl, is_java=request.client.is_java)
        wanted = set(message.info) or known.keys()
        yield batch({number: value for number, value in known.items() if number in wanted})
