"""The writer of each file format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from pinakes.engine.files.write_options import Arrow, Csv, Json, Parquet, Wanted
from pinakes.engine.files.write_rows import RowWriter

_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def open_writer(path: Path, schema: pa.Schema, wanted: Wanted) -> RowWriter:
    """Opens a writer for the requested format. The format's modules are imported on first use."""
    match wanted.options:
        case Csv() as options:
            from pinakes.engine.files.write_csv import CsvWriter

            return CsvWriter(_stream(path, options.compression), schema, options)
        case Json() as options:
            from pinakes.engine.files.write_json import JsonWriter

            as_array = wanted.name == "json" if options.array is None else options.array
            return JsonWriter(_stream(path, options.compression), schema, as_array=as_array)
        case Parquet() as options:
            from pinakes.engine.files.write_parquet import ParquetWriter

            return ParquetWriter(_file(path), schema, options)
        case Arrow() as options:
            from pinakes.engine.files.write_arrow import ArrowWriter

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
