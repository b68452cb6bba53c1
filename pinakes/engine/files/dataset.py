"""Streamed files as a dataset for DataFusion, one fragment per file, read when a query runs.

DataFusion selects the columns; it filters rows itself (`engine/iceberg/scan/unfiltered_dataset.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds

from pinakes.engine.iceberg.scan.unfiltered_dataset import constant

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
        return iter([_Fragment(self._schema, part) for part in self._parts or [_nothing]])


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


def _nothing(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    return iter(())
