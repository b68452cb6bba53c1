"""Splits a stream of batches into row groups, bounded in rows and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

_SMALL = 1024
"""Pieces with fewer rows are combined."""


def row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int, size: int) -> Iterator[pa.Table]:
    """Yields tables of at most `rows` rows and about `size` bytes, at least one row each, in order."""
    waiting: list[pa.RecordBatch] = []
    held, weight = 0, 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, rows - held)
            if not waiting:
                piece = _fitting(piece, size)
            if not waiting or weight + piece.nbytes <= size:
                waiting.append(piece)
                held, weight, start = held + piece.num_rows, weight + piece.nbytes, start + piece.num_rows
                if held < rows:
                    continue
            yield _table(waiting, schema)
            waiting, held, weight = [], 0, 0
    if waiting:
        yield _table(waiting, schema)


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Builds a table; small pieces are combined, since later steps process each chunk."""
    table = pa.Table.from_batches(batches, schema=schema)
    return table.combine_chunks() if len(batches) > 1 and table.num_rows < _SMALL * len(batches) else table


def _fitting(piece: pa.RecordBatch, size: int) -> pa.RecordBatch:
    """Returns a prefix that fits, of at least one row: it is halved until it does, since row sizes vary."""
    while piece.nbytes > size and piece.num_rows > 1:
        piece = piece.slice(0, piece.num_rows // 2)
    return piece
