"""Groups rows by partition until a row group of one is large enough to write.

Memory is bounded: beyond the budget the largest part is written, whatever its size. This works for some dozens of
partitions. With many more, the parts would be too small to read efficiently; `is_scattered` reports this, and the rows
are sorted by partition first (`engine/iceberg/write/sorting.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionKey
from pyiceberg.table.metadata import TableMetadata

from pinakes.engine.iceberg.write.parquet.file import Target
from pinakes.engine.iceberg.write.parquet.rolling import NewPath, Rolling
from pinakes.engine.iceberg.write.partitions import identity, split

BUDGET = 192 * 1024 * 1024
"""The maximum bytes of buffered rows."""
WORTHWHILE = 4 * 1024 * 1024
"""The minimum bytes of a part to write before its row group is full, and of row groups to distribute over threads."""
MOST_PARTS = 128
"""The maximum number of buffered partitions: with more, the budget would be used up before any is large enough."""
OPEN_FILES = 32
"""The maximum number of open files of a thread; the least recently used one is closed first."""

Put = Callable[[PartitionKey, pa.Table], None]


@dataclass(slots=True)
class _Part:
    key: PartitionKey
    tables: list[pa.Table] = field(default_factory=list)
    rows: int = 0
    size: int = 0


class FanOut:
    """Accepts tables in any order and emits row groups of one partition."""

    def __init__(self, metadata: TableMetadata, target: Target, put: Put) -> None:
        self._metadata, self._layout, self._put = metadata, target.layout, put
        self._parts: dict[tuple[str, ...], _Part] = {}
        self._size = 0

    def add(self, table: pa.Table) -> None:
        for key, rows in split(table, self._metadata):
            name = identity(key)
            part = self._parts.setdefault(name, _Part(key))
            if part.tables and self._is_full(part.rows + rows.num_rows, part.size + rows.nbytes):
                self._write(name)
                part = self._parts.setdefault(name, _Part(key))
            part.tables.append(rows)
            part.rows, part.size, self._size = (
                part.rows + rows.num_rows,
                part.size + rows.nbytes,
                self._size + rows.nbytes,
            )
            if self._is_full(part.rows, part.size):
                self._write(name)
        while self._size > BUDGET and not self.is_scattered:
            self._write(max(self._parts, key=lambda k: self._parts[k].size))

    def _is_full(self, rows: int, size: int) -> bool:
        return rows >= self._layout.group_rows or size >= self._layout.group_bytes

    @property
    def is_scattered(self) -> bool:
        """Whether the budget is, or would be, used up by parts that are all too small to write."""
        spent = self._size > BUDGET and max(p.size for p in self._parts.values()) < WORTHWHILE
        return spent or len(self._parts) > MOST_PARTS

    def drain(self) -> Iterator[pa.RecordBatch]:
        """Removes and yields the buffered rows."""
        while self._parts:
            _, part = self._parts.popitem()
            for table in part.tables:
                yield from table.to_batches()
        self._size = 0

    def finish(self) -> None:
        """Writes all buffered rows."""
        for name in list(self._parts):
            self._write(name)

    def _write(self, name: tuple[str, ...]) -> None:
        part = self._parts.pop(name)
        self._size -= part.size
        self._put(part.key, pa.concat_tables(part.tables))


class Files:
    """The open files of one thread, one per partition; a single one for an unpartitioned table."""

    def __init__(self, target: Target, new_path: NewPath, done: list[DataFile], most: int = OPEN_FILES) -> None:
        self._target, self._new_path, self._done, self._most = target, new_path, done, most
        self._open: OrderedDict[tuple[str, ...], Rolling] = OrderedDict()

    def write(self, key: PartitionKey | None, table: pa.Table) -> None:
        name = () if key is None else identity(key)
        if name not in self._open:
            while len(self._open) >= self._most:
                self._open.popitem(last=False)[1].close()
            self._open[name] = Rolling(self._target, key, self._new_path, self._done)
        self._open.move_to_end(name)
        self._open[name].write(table)

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def discard(self) -> None:
        for rolling in self._open.values():
            rolling.discard()
