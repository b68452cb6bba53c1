"""The values of parameters as a client sends them: a stream of batches, held in memory, so there is a limit to it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.flight.service import Ask
from pinakes.flight.streams import received

SURE = 0.02
"""Seconds to make sure that all rows have come, before they are used."""


def read_parameters(reader: Any, ask: Ask, sure: float = 0.0) -> pa.Table:
    """All rows of parameters. A client that binds nothing sends no data at all."""
    batches: list[pa.RecordBatch] = []
    size, most = 0, ask.service.statements.parameters_size
    try:
        schema = reader.schema
    except pa.ArrowInvalid:  # the stream ended before a schema came
        return pa.table({})
    for batch in received(reader, ask.call, sure):
        batches.append(batch)
        size += batch.nbytes
        if size > most:
            raise InvalidArgument(
                f"the parameters are larger than {most / 1e6:g} MB, the most that this server takes "
                f"(parameters_size): send them in several parts, or ingest them"
            )
    return pa.Table.from_batches(batches, schema=schema)
