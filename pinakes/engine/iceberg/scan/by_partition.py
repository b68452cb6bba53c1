"""The files of a snapshot with partition values only: counts how many files remain when pruning ignores bounds.

Queries are pruned by both (`prune.py`). Only EXPLAIN FULL shows the difference.
"""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.types import IcebergType

from pinakes.engine.iceberg.scan.bounds import Range, kind_of
from pinakes.engine.iceberg.scan.snapshot import Buckets, SnapshotFiles


class ByPartition:
    """The files of a snapshot, without bounds and value counts."""

    def __init__(self, files: SnapshotFiles) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def ranges(self, field_id: int, kind: IcebergType) -> list[Range]:
        return self._files.partition_ranges(field_id, kind) if kind_of(kind) is not None else []

    def counts(self, column: str, field_id: int) -> pa.Array:
        return pa.nulls(len(self._files), pa.int64())

    def not_all_null(self, field_id: int) -> pa.Array:
        return pa.repeat(pa.scalar(True), len(self._files))

    def buckets(self, field_id: int) -> list[Buckets]:
        return self._files.buckets(field_id)
