"""The rows of a worker's call as DataFusion reads them: a partition for each worker that may share the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pds

from pinakes.engine.iceberg.scan.unfiltered_dataset import constant
from pinakes.providers.vgi.scans import RowCall, Running
from pinakes.worker.wire.filters import Filter


class WorkerDataset(pds.Dataset):  # type: ignore[misc]  # pyarrow is untyped
    """Each time that it is read, the call runs anew: a table that stands twice in a query runs twice."""

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

    # Not a function of Python's: while DataFusion asks for it, no interrupt of a query may surface, for it would panic.
    schema = property(attrgetter("_schema"))

    def scanner(self, columns: list[str] | None = None, **_: Any) -> pds.Scanner:
        """Only asked for its schema while planning: the rows come from the fragments."""
        return pds.InMemoryDataset(self._schema.empty_table()).scanner(columns=columns)

    def get_fragments(self, filter: Any = None) -> Iterator[_Fragment]:
        running = self._call.begin(self._filters, self._limit, self._check)
        return iter([_Fragment(running, self._schema) for _ in range(self._partitions)])


class _Fragment:
    """What comes from one worker."""

    def __init__(self, running: Running, schema: pa.Schema) -> None:
        self._running, self._schema = running, schema

    def scanner(
        self, schema: pa.Schema | None = None, columns: list[str] | None = None, filter: Any = None, **_: Any
    ) -> pds.Scanner:
        wanted = list(columns) if columns is not None else self._schema.names
        read = wanted or [_cheapest(self._schema)]
        target = pa.schema([self._schema.field(c) for c in read])
        batches = self._running.batches(read) if constant(filter) else iter(())
        return pds.Scanner.from_batches(
            pa.RecordBatchReader.from_batches(target, (_as(batch, target) for batch in batches)), columns=wanted
        )


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return batch if batch.schema.equals(schema) else pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _cheapest(schema: pa.Schema) -> str:
    """A column to read when only the number of rows matters."""
    small = [f.name for f in schema if pa.types.is_primitive(f.type)]
    return small[0] if small else str(schema.names[0])
