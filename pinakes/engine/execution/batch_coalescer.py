"""Batches put together: of many small files they come small, and each costs the same whatever its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

ROWS = 131_072


def gathered(batches: Iterable[pa.RecordBatch], rows: int = ROWS) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of about so many, in their order."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield from _one(held)
            held, count = [], 0
    if held:
        yield from _one(held)


def _one(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) == 1:
        return batches
    found: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return found
