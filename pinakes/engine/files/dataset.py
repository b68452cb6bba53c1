"""Files that stream: what DataFusion takes for a dataset, one fragment per file, read when a query runs.

DataFusion chooses the columns; rows it chooses itself (`engine/iceberg/scan/unfiltered_dataset.py`).
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
"""The rows of one file: at least the named columns, as the dataset's schema has them."""


class FilesDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    def __init__(self, schema: pa.Schema, parts: Sequence[Read]) -> None:
        self._schema = schema
        self._parts = parts

    # Not a function of Python's: while DataFusion asks for it, no interrupt of a query may surface, for it would panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Only asked for its schema while planning: the rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[_Fragment]:
        """One per file; an empty one when there is none, since DataFusion cannot plan a scan of nothing."""
        return iter([_Fragment(self._schema, part) for part in self._parts or [_nothing]])


class _Fragment:
    def __init__(self, schema: pa.Schema, read: Read) -> None:
        self._schema, self._read = schema, read

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        """A stream of the file's rows; of none, when DataFusion found that no row can be wanted."""
        wanted = list(columns) if columns is not None else self._schema.names
        batches = self._read(wanted) if constant(filter) else iter(())
        first = next(batches, None)
        read = first.schema if first is not None else pa.schema([self._schema.field(c) for c in wanted])
        stream = chain(() if first is None else (first,), batches)
        return pds.Scanner.from_batches(pa.RecordBatchReader.from_batches(read, stream), columns=wanted)


def _nothing(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    return iter(())
