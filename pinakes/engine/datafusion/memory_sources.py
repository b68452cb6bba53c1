"""Sources of rows that no catalog holds: in memory, a lazy dataset, a stream. `engine/binding/session_relations.py`
names them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds
from datafusion import Expr, SessionContext, col
from datafusion import Table as Provider

from pinakes.core.arrays.conform import with_null_fields
from pinakes.core.arrays.decode import decode_batch, decode_schema, decode_table
from pinakes.core.arrays.nan import holds_floats
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote
from pinakes.engine.datafusion.parquet_scan import usual_nan
from pinakes.engine.datafusion.unfiltered_dataset import constant, exact

BATCH_ROWS = 32_768
"""Rows in memory are handed to DataFusion in slices of this many, so that it can share them out."""


_NUMBERS = count()


@cache
def _context() -> SessionContext:
    return SessionContext()


class Rows:
    """Rows in memory, read natively; as often as one likes."""

    def __init__(self, table: pa.Table) -> None:
        self._table = decode_table(table.replace_schema_metadata(None))

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema

    @cached_property
    def provider(self) -> Provider:
        empty = pa.RecordBatch.from_pylist([], schema=self.schema)
        batches = [_with_null_fields(b) for b in self._table.to_batches(max_chunksize=BATCH_ROWS)] or [empty]
        # The context of a session resolves names through our catalogs only. The plan holds the rows, not this context.
        context, name = _context(), f"rows{next(_NUMBERS)}"
        frame = context.create_dataframe([batches], name)
        context.deregister_table(name)
        if any(pa.types.is_floating(field.type) or holds_floats(field.type) for field in self.schema):
            frame = frame.select(*(_column(field) for field in self.schema))
        return frame.into_view()


def _with_null_fields(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [with_null_fields(column) for column in batch.columns]
    same = all(a is b for a, b in zip(columns, batch.columns, strict=True))
    return batch if same else pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _column(field: pa.Field) -> Expr:
    column = col(quote(field.name))
    found = usual_nan(column, field.type, structs=True)
    return column if found is column else found.alias(field.name)


class Dataset:
    """A lazy Arrow dataset: files that are read when a query runs, and only its columns of them."""

    def __init__(self, dataset: pds.Dataset) -> None:
        self.schema = decode_schema(dataset.schema)
        if self.schema.equals(dataset.schema):
            self.provider = exact(dataset)
        else:  # pyarrow can't decode it within a scan
            self.provider = Stream(dataset.schema, lambda: dataset.scanner().to_reader()).provider


class Stream:
    """Batches that are streamed while a query runs, and not kept. `opened` returns a new stream for every scan."""

    def __init__(self, schema: pa.Schema, opened: Callable[[], pa.RecordBatchReader]) -> None:
        self.schema = decode_schema(schema)
        plain = opened if self.schema.equals(schema) else lambda: _decoded(opened(), self.schema)
        self.provider = exact(_StreamDataset(self.schema, plain))


def _decoded(reader: pa.RecordBatchReader, schema: pa.Schema) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(schema, (decode_batch(batch, schema) for batch in reader))


_read: weakref.WeakSet[pa.RecordBatchReader] = weakref.WeakSet()
"""Readers that a query has read: they themselves would pass for empty ones."""


class ReadOnce:
    """A reader that can be read once: a second query fails while it is planned."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.schema = decode_schema(reader.schema)
        self._reader = reader

    @property
    def provider(self) -> Provider:
        self._check()
        return Stream(self._reader.schema, self._opened).provider

    def _opened(self) -> pa.RecordBatchReader:
        self._check()
        _read.add(self._reader)
        return self._reader

    def _check(self) -> None:
        if self._reader in _read:
            raise InvalidArgument("this stream was read already: read it into a table to query it more than once")


class _StreamDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    """What DataFusion takes for a dataset: one fragment, whose rows are those of the stream."""

    def __init__(self, schema: pa.Schema, opened: Callable[[], pa.RecordBatchReader]) -> None:
        self._schema, self._opened = schema, opened

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Used while planning, for its schema only: the rows come from the fragment."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[_StreamFragment]:
        return iter([_StreamFragment(self._opened)])


class _StreamFragment:
    def __init__(self, opened: Callable[[], pa.RecordBatchReader]) -> None:
        self._opened = opened

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        nothing = None if constant(filter) else pc.scalar(False)
        return pds.Scanner.from_batches(self._opened(), columns=columns, filter=nothing)
