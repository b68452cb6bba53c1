"""Parameter values that a client sends as a stream of batches. They are held in memory, so their size is limited."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.core.arrays.expanding import decoded_size
from pinakes.core.errors import InvalidArgument
from pinakes.flight.request import FlightRequest
from pinakes.flight.streams import received

SURE = 0.02
"""Seconds to wait for a late cancellation before the rows are used, see `Call.check_there`."""


def read_parameters(reader: Any, request: FlightRequest, sure: float = 0.0) -> pa.Table:
    """Returns all rows of parameters. A client without bindings sends no data."""
    batches: list[pa.RecordBatch] = []
    size, most = 0, request.service.statements.parameters_size
    try:
        schema = reader.schema
    except pa.ArrowInvalid:  # the stream ended before a schema
        return pa.table({})
    for batch in received(reader, request.call, sure):
        batches.append(batch)
        decoded = decoded_size(batch)
        size += decoded
        request.memory.grow(decoded)
        if size > most:
            raise InvalidArgument(
                f"the parameters are larger than {most / 1e6:g} MB, the most that this server takes "
                f"(parameters_size): send them in several parts, or ingest them"
            )
    return pa.Table.from_batches(batches, schema=schema)
