"""Columns derived from file paths: `filename`, and key=value in directory names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.options import FileOptions

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,17})\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


class PathColumns:
    """The added columns and their values for each file."""

    def __init__(self, files: Sequence[File], options: FileOptions) -> None:
        columns = _partitions(files, options.hive_partitioning)
        if options.filename:
            columns["filename"] = pa.array([file.path for file in files], pa.string())
        self.schema = pa.schema([(name, column.type) for name, column in columns.items()])
        rows = zip(*columns.values(), strict=True) if columns else [()] * len(files)
        self._values = dict(zip(files, rows, strict=True))

    def of(self, file: File) -> tuple[pa.Scalar, ...]:
        """Returns the values of a file, one per added column."""
        return self._values[file]

    def groups(self) -> dict[tuple[Any, ...], list[File]]:
        """Returns the files grouped by their values."""
        found: dict[tuple[Any, ...], list[File]] = {}
        for file, values in self._values.items():
            found.setdefault(tuple(v.as_py() for v in values), []).append(file)
        return found

    def add_to_schema(self, schema: pa.Schema) -> pa.Schema:
        """Returns the schema with the added columns. A directory value overrides a column in the file."""
        if "filename" in self.schema.names and "filename" in schema.names:
            raise InvalidArgument("the files have a column filename: leave out filename => true")
        kept = [f for f in schema if f.name not in self.schema.names]
        return pa.schema([*kept, *self.schema])

    def add_to_batch(self, batch: pa.RecordBatch, file: File, columns: Sequence[str]) -> pa.RecordBatch:
        """Adds those of the file's values that are among `columns` to the batch."""
        for field, value in zip(self.schema, self.of(file), strict=True):
            if field.name in columns:
                batch = batch.append_column(field, pa.repeat(value, batch.num_rows))
        return batch


def _partitions(files: Sequence[File], wanted: bool | None) -> dict[str, pa.Array]:
    """Returns the columns of directories named key=value; every file must have the same keys."""
    if wanted is False:
        return {}
    found = [_pairs(file) for file in files]
    keys = list(found[0]) if found else []
    if any(list(pairs) != keys for pairs in found):
        if wanted:
            other = next(file for file, pairs in zip(files, found, strict=True) if list(pairs) != keys)
            raise InvalidArgument(
                f"{other} does not lie below directories of the same keys as {files[0]} ({', '.join(keys) or 'none'}): "
                f"hive_partitioning needs them"
            )
        return {}
    return {key: _to_array([pairs[key] for pairs in found]) for key in keys}


def _pairs(file: File) -> dict[str, str | None]:
    pairs = (directory.partition("=") for directory in file.below)
    return {unquote(key): None if value == _NULL else unquote(value) for key, mark, value in pairs if key and mark}


def _to_array(given: list[str | None]) -> pa.Array:
    known = [v for v in given if v is not None]
    if known and all(_WHOLE.match(v) for v in known):
        return pa.array([None if v is None else int(v) for v in given], pa.int64())
    if known and all(_is_date(v) for v in known):
        return pa.array([None if v is None else date.fromisoformat(v) for v in given], pa.date32())
    return pa.array(given, pa.string())


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.match(text) and date.fromisoformat(text))
    except ValueError:
        return False
