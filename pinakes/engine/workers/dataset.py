"""The rows of a worker's call as a dataset for DataFusion, with a partition for each worker that may share the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds

from pinakes.core.arrays.expanding import small_pieces
from pinakes.engine.datafusion.unfiltered_dataset import constant
from pinakes.providers.vgi.scans import RowCall, Running
from pinakes.worker.wire.filters import Filter


class WorkerDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    """The dataset of one call. Each read runs the call again: a table that occurs more than once in a query is read
    more than once.
    """

    def __init__(
        self,
        call: RowCall,
        schema: pa.Schema,
        *,
        filters: Sequence[Filter] = (),
        limit: int | None = None,
        partitions: int = 1,
        check: Callable[[], None],
    ) -> None:
        self._call = call
        self._schema = schema
        self._filters, self._limit, self._check = filters, limit, check
        self._partitions = max(1, min(partitions, call.most_workers))

    # `attrgetter` is not a Python function: an interrupt of the query that surfaced while DataFusion reads the schema
    # would cause a panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Returns an empty scanner. Planning uses only its schema; the rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[_Fragment]:
        running = self._call.begin(self._filters, self._limit, self._check)
        return iter([_Fragment(running, self._schema) for _ in range(self._partitions)])


class _Fragment:
    """The rows from one worker."""

    def __init__(self, running: Running, schema: pa.Schema) -> None:
        self._running, self._schema = running, schema

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        wanted = list(columns) if columns is not None else self._schema.names
        read = wanted or [_cheapest(self._schema)]
        target = pa.schema([self._schema.field(c) for c in read])
        batches = self._running.batches(read) if constant(filter) else iter(())
        return pds.Scanner.from_batches(pa.RecordBatchReader.from_batches(target, _as(batches, target)), columns=wanted)


def _as(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yields the rows in batches that can be decoded and processed in one piece: a worker sends batches of any size."""
    for batch in batches:
        for piece in small_pieces(batch):
            yield piece if piece.schema.equals(schema) else pa.RecordBatch.from_arrays(piece.columns, schema=schema)


def _cheapest(schema: pa.Schema) -> str:
    """Returns a column to read when only the number of rows matters."""
    small = [f.name for f in schema if pa.types.is_primitive(f.type)]
    return small[0] if small else str(schema.names[0])
