"""Rows kept for the duration of a statement: in memory while they are few, else in an unnamed file.

The file is unlinked when it is created (or removed with its last user, where that is not possible), so nothing is left
when the statement or the process ends. It is memory-mapped: the system reads the parts that are used.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

import pyarrow as pa
from datafusion import DataFrame, SessionContext

from pinakes.core.errors import WriteFailed

IN_MEMORY = 64 << 20
"""Bytes of one set of rows that stay in memory."""
BATCH = 8192
"""Rows of a batch, at most: what DataFusion works with."""


class KeptRows:
    def __init__(
        self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], directory: str | None, in_memory: int = IN_MEMORY
    ) -> None:
        self.schema = schema
        self.is_in_file = False
        self.batches: list[pa.RecordBatch] = []
        arriving, held = iter(batches), 0
        for batch in arriving:
            self.batches.append(batch)
            held += batch.nbytes
            if held > in_memory:
                self.is_in_file = True
                self.batches = _through_file(schema, _all(self.batches, arriving), directory)
                break

    @property
    def rows(self) -> int:
        return sum(batch.num_rows for batch in self.batches)

    def frame(self, partitions: int, name: str) -> DataFrame:
        """They are shared out, so that several threads read them; plans show the name."""
        pieces = [piece for batch in self.batches for piece in _pieces(batch)]
        parts = [part for i in range(partitions) if (part := pieces[i::partitions])]
        nothing = [[pa.RecordBatch.from_pylist([], schema=self.schema)]]
        return SessionContext().create_dataframe(parts or nothing, name)


def _all(first: list[pa.RecordBatch], rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Those at hand, each let go when it was given, and those that still come."""
    while first:
        yield first.pop(0)
    yield from rest


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, BATCH):
        yield batch.slice(start, BATCH)


def _through_file(schema: pa.Schema, batches: Iterable[pa.RecordBatch], directory: str | None) -> list[pa.RecordBatch]:
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            _write(schema, batches, file)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        place = directory or tempfile.gettempdir()
        raise WriteFailed(f"rows of a subquery cannot be kept in {place}: {error.strerror or error}") from error
    reader = pa.ipc.open_file(pa.py_buffer(mapped))
    return [reader.get_batch(i) for i in range(reader.num_record_batches)]


def _write(schema: pa.Schema, batches: Iterable[pa.RecordBatch], file: IO[bytes]) -> None:
    with pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    file.flush()
