"""A stream of batches cut into row groups: bounded in rows and in bytes, whatever the batches were like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

_SMALL = 1024
"""Rows of a piece, below which it is put together with others."""


def row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int, size: int) -> Iterator[pa.Table]:
    """Tables of at most so many rows and about so many bytes, of at least one row; in order, and none is empty."""
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
    """As one piece, if the pieces are small: what follows looks at each."""
    table = pa.Table.from_batches(batches, schema=schema)
    return table.combine_chunks() if len(batches) > 1 and table.num_rows < _SMALL * len(batches) else table


def _fitting(piece: pa.RecordBatch, size: int) -> pa.RecordBatch:
    """The beginning of it that fits, one row at least: halved until it does, since rows may differ much in size."""
    while piece.nbytes > size and piece.num_rows > 1:
        piece = piece.slice(0, piece.num_rows // 2)
    return piece
