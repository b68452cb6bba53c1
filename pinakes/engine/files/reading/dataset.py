"""Files as a source for DataFusion: a schema and a provider.

Formats that DataFusion does not read itself are a dataset, one fragment per file, read in Python when a query runs.
DataFusion chooses the columns; rows it chooses itself (`engine/datafusion/unfiltered_dataset.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds
from datafusion import Table as Provider

from pinakes.core.arrays.conform import conform_array
from pinakes.core.errors import DataCorrupt
from pinakes.engine.datafusion.unfiltered_dataset import constant, exact
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.streams import read_errors


@dataclass(frozen=True, slots=True)
class FilesSource:
    """Files as a table: a `Source` (`engine/binding/session_relations.py`)."""

    schema: pa.Schema
    provider: Provider
    statistics: bool = True
    """Whether DataFusion's conclusions from the files' statistics are correct."""
    notes: tuple[str, ...] = ()
    """The warnings about the files."""


ReadFile = Callable[[File, Sequence[str]], Iterator[pa.RecordBatch]]
"""Yields the rows of a file, with those of the named columns that it has, in their own types."""


def stream_files(files: Sequence[File], schema: pa.Schema, path_columns: PathColumns, read: ReadFile) -> FilesSource:
    """Opens files whose batches are read in Python. `schema` is the common schema of the files."""
    whole = path_columns.add_to_schema(schema)

    def part(file: File) -> Read:
        def rows(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
            own = [c for c in columns if c not in path_columns.schema.names] or [schema.names[0]]
            target = pa.schema([schema.field(c) for c in own])
            with read_errors(file):
                for batch in read(file, own):
                    yield path_columns.add_to_batch(_conform(batch, target, file), file, columns)

        return rows

    return FilesSource(whole, exact(FilesDataset(whole, [part(file) for file in files])))


def _conform(batch: pa.RecordBatch, target: pa.Schema, file: File) -> pa.RecordBatch:
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


Read = Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
"""Yields the rows of one file, with at least the named columns, in the dataset's schema."""


class FilesDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    def __init__(self, schema: pa.Schema, parts: Sequence[Read]) -> None:
        self._schema = schema
        self._parts = parts

    # Not a Python function: an interrupt of the query that surfaces while DataFusion reads the schema would cause a
    # panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Used for its schema during planning only: rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[_Fragment]:
        """Returns one fragment per file, or an empty one if there are none: DataFusion cannot plan a scan of
        nothing.
        """
        return iter([_Fragment(self._schema, part) for part in self._parts or [lambda _: iter(())]])


class _Fragment:
    def __init__(self, schema: pa.Schema, read: Read) -> None:
        self._schema, self._read = schema, read

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        """Returns a stream of the file's rows; an empty one if DataFusion's filter is constant false."""
        wanted = list(columns) if columns is not None else self._schema.names
        batches = self._read(wanted) if constant(filter) else iter(())
        first = next(batches, None)
        read = first.schema if first is not None else pa.schema([self._schema.field(c) for c in wanted])
        stream = chain(() if first is None else (first,), batches)
        return pds.Scanner.from_batches(pa.RecordBatchReader.from_batches(read, stream), columns=wanted)
