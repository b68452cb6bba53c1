"""Writing rows to one file: the common base of the writers of all formats.

A writer takes batches and buffers as little as its format permits. `finish` completes the file; `abandon` releases it
after an error, in any state.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any

import pyarrow as pa


class RowWriter:
    """Writes rows to one file."""

    def __init__(self, stream: IO[bytes] | Any) -> None:
        self._stream = stream

    def write(self, batch: pa.RecordBatch) -> None:
        raise NotImplementedError

    def flush(self) -> None:
        """Writes the buffered rows."""

    def finish(self) -> None:
        self._stream.close()

    def abandon(self) -> None:
        with suppress(OSError, pa.ArrowException):  # the original error is reported
            self._stream.close()


def bytes_as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    r"""Returns the batch with bytes as `\x` and two hex digits each, which `texts.py` reads as bytes again. Without the
    prefix, the digits would be read as text.
    """
    for number, field in enumerate(batch.schema):
        if _holds_bytes(field.type):
            shown = [None if value is None else "\\x" + value.hex() for value in batch.column(number).to_pylist()]
            batch = batch.set_column(number, field.with_type(pa.string()), pa.array(shown, pa.string()))
    return batch


def _holds_bytes(kind: pa.DataType) -> bool:
    types = pa.types
    if isinstance(kind, pa.DictionaryType):
        return _holds_bytes(kind.value_type)
    return any(is_(kind) for is_ in (types.is_binary, types.is_large_binary, types.is_binary_view)) or bool(
        types.is_fixed_size_binary(kind)
    )


def portable(schema: pa.Schema) -> pa.Schema:
    """Returns the schema without dictionaries and Arrow's newer layouts, so that all readers support the file."""
    return pa.schema([field.with_type(_portable(field.type)) for field in schema])


def as_portable(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [c if c.type == f.type else c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _portable(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if isinstance(kind, pa.DictionaryType):
        return _portable(kind.value_type)
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_portable(kind.value_type)))
    if types.is_struct(kind):
        return pa.struct([f.with_type(_portable(f.type)) for f in (kind.field(i) for i in range(kind.num_fields))])
    return kind
