"""Records: one row with a known Arrow schema, as the bytes of an IPC stream. Maps are dicts, enums their names.

Decoding tolerates other versions: an unknown field is ignored, a missing one is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import ipc
from pyarrow import types as is_

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.wire.arrays import many, one

EMPTY = pa.schema([])


def encode(schema: pa.Schema, values: Mapping[str, Any]) -> bytes:
    """Encodes one row; fields that are missing in `values` are NULL."""
    return stream_of(row(schema, values))


def row(schema: pa.Schema, values: Mapping[str, Any]) -> pa.RecordBatch:
    """Returns a batch of one row (of none, if there are no fields)."""
    return pa.RecordBatch.from_arrays([_array(values.get(f.name), f.type) for f in schema], schema=schema)


def decode(data: bytes | pa.Buffer | None, what: str) -> dict[str, Any]:
    """Decodes the one row of a record; `what` names it in errors."""
    return row_of(batch_of(data, what), what)


def row_of(batch: pa.RecordBatch, what: str) -> dict[str, Any]:
    """Returns the one row of a batch as Python values, with dicts for maps."""
    if batch.num_columns == 0:
        return {}
    if batch.num_rows != 1:
        raise ProtocolError(f"{what} must be one row, and {batch.num_rows} came")
    return {f.name: _got(f.type, batch.column(i)[0].as_py()) for i, f in enumerate(batch.schema)}


def batch_of(data: bytes | pa.Buffer | None, what: str) -> pa.RecordBatch:
    """Returns the first batch of a stream; an empty one if it has none."""
    if data is None:
        raise ProtocolError(f"{what} is missing")
    try:
        with ipc.open_stream(data) as reader:
            found = next(iter(reader), None)
            if found is not None:
                found.validate(full=True)
            return found if found is not None else pa.RecordBatch.from_pylist([], schema=reader.schema)
    except (pa.ArrowException, OSError) as error:
        raise ProtocolError(f"{what} is not a valid Arrow stream: {error}") from error


def stream_of(batch: pa.RecordBatch) -> bytes:
    """Returns a stream of one batch."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def schema_bytes(schema: pa.Schema) -> bytes:
    return bytes(schema.serialize())


def schema_from(data: bytes | None, what: str) -> pa.Schema:
    """Decodes a schema: a bare one, or that of a stream."""
    if not data:
        return EMPTY
    try:
        return ipc.read_schema(pa.py_buffer(data))
    except (pa.ArrowException, OSError) as error:
        raise ProtocolError(f"{what} is not a valid Arrow schema: {error}") from error


def _array(value: Any, t: pa.DataType) -> pa.Array:
    if isinstance(value, Mapping):
        keys, items = many(list(value), t.key_type), many(list(value.values()), t.item_type)
        return pa.MapArray.from_arrays(many([0, len(value)], pa.int32()), keys, items).cast(t)
    return one(value.to_pybytes() if isinstance(value, pa.Buffer) else value, t)


def _got(t: pa.DataType, value: Any) -> Any:
    return dict(value) if is_.is_map(t) and value is not None else value
