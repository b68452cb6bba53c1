"""Rows into one file: what the writers of all formats have in common.

A writer takes batches and holds back as little as its format permits. `finish` makes the file whole; `abandon` lets go
of it when something went wrong, whatever state it is in.
"""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any

import pyarrow as pa


class RowWriter:
    """One file that rows go to."""

    def __init__(self, stream: IO[bytes] | Any) -> None:
        self._stream = stream

    def write(self, batch: pa.RecordBatch) -> None:
        raise NotImplementedError

    def flush(self) -> None:
        """Write what is held back."""

    def finish(self) -> None:
        self._stream.close()

    def abandon(self) -> None:
        with suppress(OSError, pa.ArrowException):  # the error that led here is the one to tell
            self._stream.close()


def bytes_as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    r"""The batch with bytes as `\x` and two digits for each, which `texts.py` takes for bytes again. Digits alone could
    not be told from a text that is copied into a column of bytes."""
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
    """The schema without Arrow's newer layouts and dictionaries, which differ from batch to batch: for files that
    anybody may read."""
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
