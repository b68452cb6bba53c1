"""The writers of COPY … TO, one class per file format.

A writer takes batches and buffers as little as its format permits. `finish` completes the file; `abandon` releases it
after an error, in any state.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import ColumnExists, ColumnNotFound, NotSupportedError, listing
from pinakes.core.names import Part, match
from pinakes.core.output.row_formats import Delimited, json_objects
from pinakes.engine.files.writing.options import Arrow, CopyFormat, Csv, Json, Parquet

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def open_writer(path: Path, schema: pa.Schema, wanted: CopyFormat) -> RowWriter:
    """Opens a writer for the requested format. The format's modules are imported on first use."""
    match wanted.options:
        case Csv() as options:
            return CsvWriter(_stream(path, options.compression), schema, options)
        case Json() as options:
            as_array = wanted.name == "json" if options.array is None else options.array
            return JsonWriter(_stream(path, options.compression), schema, as_array=as_array)
        case Parquet() as options:
            return ParquetWriter(_file(path), schema, options)
        case Arrow() as options:
            return ArrowWriter(_file(path), schema, options)


def _stream(path: Path, compression: str) -> IO[bytes] | Any:
    """Opens an output stream. Arrow's gzip uses the highest compression level and takes five times as long as level
    6.
    """
    if compression == "none":
        return _file(path)
    if compression == "gzip":
        import gzip

        return gzip.open(_file(path), "wb", compresslevel=6)
    return pa.CompressedOutputStream(_file(path), compression)


def _file(path: Path) -> pa.NativeFile:
    """Opens a new, empty file, or a device.

    The process's own streams are duplicated, not opened again: if they are redirected to a file, a second open would
    overwrite the output written so far.
    """
    own = _STREAMS.get(str(path))
    if own is not None:
        return pa.PythonFile(os.fdopen(os.dup(own), "wb"), "w")
    return pa.OSFile(str(path), "wb") if path.is_file() else pa.PythonFile(path.open("ab"), "w")


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
    r"""Returns the batch with bytes as `\x` and two hex digits each, which `engine/files/reading/text_conversion.py`
    reads as bytes again. Without the prefix, the digits would be read as text."""
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


# --- formats -----------------------------------------------------------------------------------------------------


class CsvWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Csv) -> None:
        super().__init__(stream)
        escape = options.quote if options.escape is None else options.escape
        forced = options.force_quote and exact_names(options.force_quote, schema.names, "FORCE_QUOTE")
        self._form = Delimited(options.delimiter, options.quote, escape, options.null, forced, blank=True)
        if options.header:
            stream.write(self._form.header(schema.names))

    def write(self, batch: pa.RecordBatch) -> None:
        for lines in self._form.lines(bytes_as_text(batch)):
            self._stream.write(lines)
            self._stream.write(b"\n")


def exact_names(given: tuple[str, ...], names: list[str], option: str) -> tuple[str, ...]:
    """Returns the columns that an option names, as spelled in the result."""
    found: list[str] = []
    for name in given:
        exact = match(Part(name, quoted=False), names, "column")
        if exact is None:
            raise ColumnNotFound(f"column {name} of {option} does not exist; available: {listing(names)}")
        if exact in found:
            raise ColumnExists(f"column {name} is named twice in {option}")
        found.append(exact)
    return tuple(found)


class JsonWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, *, as_array: bool) -> None:
        super().__init__(stream)
        self._keys = schema.names
        self._between = ",\n" if as_array else "\n"
        self._next, self._last = (b"[\n", b"\n]\n") if as_array else (b"", b"\n")
        self._empty = b"[]\n" if as_array else b""
        self._any = False

    def write(self, batch: pa.RecordBatch) -> None:
        for text in json_objects(bytes_as_text(batch), self._keys, self._between):
            self._stream.write(self._next)
            self._stream.write(text)
            self._next, self._any = self._between.encode(), True

    def finish(self) -> None:
        self._stream.write(self._last if self._any else self._empty)
        super().finish()


MOST_BYTES = 64 << 20
"""The maximum memory of a row group before it is written."""


class ParquetWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Parquet) -> None:
        super().__init__(stream)
        self._schema = portable(schema)
        self._most = options.row_group_size
        self._rows = self._bytes = 0
        self._held: list[pa.RecordBatch] = []
        try:
            self._writer = pq.ParquetWriter(
                stream,
                self._schema,
                compression=options.compression,
                compression_level=options.compression_level,
                store_schema=True,
            )
        except pa.ArrowNotImplementedError as error:
            stream.close()
            raise NotSupportedError(f"parquet can't hold these columns: {error}. CAST what it lacks.") from error

    def write(self, batch: pa.RecordBatch) -> None:
        while batch.num_rows:
            part = batch.slice(0, self._most - self._rows)
            batch = batch.slice(part.num_rows)
            self._held.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows >= self._most or self._bytes >= MOST_BYTES:
                self.flush()

    def flush(self) -> None:
        if self._held:
            batches = [as_portable(batch, self._schema) for batch in self._held]
            self._writer.write_table(pa.Table.from_batches(batches, self._schema), self._most)
            self._held, self._rows, self._bytes = [], 0, 0

    def finish(self) -> None:
        self.flush()
        self._writer.close()
        super().finish()

    def abandon(self) -> None:
        self._writer.is_open = False  # otherwise it writes its footer when it is garbage-collected
        super().abandon()


class ArrowWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Arrow) -> None:
        super().__init__(stream)
        self._schema = portable(schema)
        compression = None if options.compression == "none" else options.compression
        self._writer = pa.ipc.new_file(stream, self._schema, options=pa.ipc.IpcWriteOptions(compression=compression))

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(as_portable(batch, self._schema))

    def finish(self) -> None:
        self._writer.close()
        super().finish()
