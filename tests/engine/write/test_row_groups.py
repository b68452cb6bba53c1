"""Batches cut into row groups."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.iceberg.write.parquet.row_groups import row_groups

_SCHEMA = pa.schema([("a", pa.int64())])


def _batches(count: int, rows: int) -> list[pa.RecordBatch]:
    return [pa.record_batch([pa.array([i] * rows, pa.int64())], schema=_SCHEMA) for i in range(count)]


def test_small_batches_become_one_piece() -> None:
    """A join without a condition gives batches of a few rows, and the writer looks at every piece of a row group."""
    first, last = row_groups(_batches(1000, 3), _SCHEMA, 2000, 1 << 20)
    assert [first.num_rows, last.num_rows] == [2000, 1000]
    assert first.column("a").num_chunks == last.column("a").num_chunks == 1
    assert [*first.column("a").to_pylist(), *last.column("a").to_pylist()] == [i for i in range(1000) for _ in range(3)]


def test_large_ones_are_not_copied() -> None:
    (group,) = row_groups(_batches(3, 5000), _SCHEMA, 20_000, 1 << 20)
    assert group.column("a").num_chunks == 3
