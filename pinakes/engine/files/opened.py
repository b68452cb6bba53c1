"""The common result of all formats: a schema and a provider for DataFusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from datafusion import Table as Provider

from pinakes.core.conform import conform_array
from pinakes.core.errors import DataCorrupt
from pinakes.engine.files.dataset import FilesDataset, Read
from pinakes.engine.files.extras import Extras
from pinakes.engine.files.formats import reading
from pinakes.engine.files.paths import File
from pinakes.engine.iceberg.scan.unfiltered_dataset import exact


@dataclass(frozen=True, slots=True)
class Opened:
    """Files as a table: a `Source` (`engine/binding/session_relations.py`)."""

    schema: pa.Schema
    provider: Provider
    statistics: bool = True
    """Whether DataFusion's conclusions from the files' statistics are correct."""


ReadFile = Callable[[File, Sequence[str]], Iterator[pa.RecordBatch]]
"""Yields the rows of a file, with those of the named columns that it has, in their own types."""


def streamed(files: Sequence[File], schema: pa.Schema, extras: Extras, read: ReadFile) -> Opened:
    """Opens files whose batches are read in Python. `schema` is the common schema of the files."""
    whole = extras.added_to(schema)

    def part(file: File) -> Read:
        def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            own = [c for c in columns if c not in extras.schema.names] or [schema.names[0]]
            target = pa.schema([schema.field(c) for c in own])
            with reading(file):
                for batch in read(file, own):
                    yield extras.added(_fitted(batch, target, file), file, columns)

        return rows

    return Opened(whole, exact(FilesDataset(whole, [part(file) for file in files])))


def _fitted(batch: pa.RecordBatch, target: pa.Schema, file: File) -> pa.RecordBatch:
    """Returns the batch's columns by name in the form of `target`; missing ones are NULL."""
    if batch.schema.equals(target):
        return batch
    columns = []
    for field in target:
        at = batch.schema.get_field_index(field.name)
        try:
            column = pa.nulls(batch.num_rows, field.type) if at < 0 else conform_array(batch.column(at), field.type)
        except (pa.ArrowException, ValueError) as error:
            raise DataCorrupt(f"{file}, column {field.name!r}: {error}") from error
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=target)
