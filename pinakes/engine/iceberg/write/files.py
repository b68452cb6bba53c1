"""Rows become data files: streamed, encoded while the query runs on, and removed again unless a commit keeps them.

    rows → checked → row groups → lanes (`parquet/lanes.py`) → files

Few rows are written by the calling thread. Rows of a table with partitions are gathered by partition
(`parquet/fanout.py`); those of a table with a sort order, or of more partitions than fit in memory, are sorted first
(`sorting.py`). Rows that are in order are written by one lane, so that each file has a range of its own.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionKey
from pyiceberg.table.metadata import TableMetadata

from pinakes.core.conform import conform
from pinakes.core.errors import InternalError
from pinakes.core.iceberg_arrow import arrow_schema_of
from pinakes.core.struct_fields import arranged
from pinakes.engine.iceberg.write.new_files import NewFiles
from pinakes.engine.iceberg.write.parquet.columns import Columns
from pinakes.engine.iceberg.write.parquet.fanout import WORTHWHILE, FanOut, Files, Put
from pinakes.engine.iceberg.write.parquet.file import Target
from pinakes.engine.iceberg.write.parquet.lanes import Lanes
from pinakes.engine.iceberg.write.parquet.layout import Layout
from pinakes.engine.iceberg.write.parquet.row_groups import row_groups
from pinakes.engine.iceberg.write.partitions import identity, split
from pinakes.engine.iceberg.write.sort_order import order_of
from pinakes.engine.iceberg.write.sorting import sorted_rows
from pinakes.providers.table_io import location_provider

LANES = min(os.cpu_count() or 1, 4)
"""Threads that encode; each has a file of its own, so more of them would make more files."""


class FileWriter(NewFiles):
    """Writes batches to new files of a table. Used as a context: on the way out, files that nobody kept are removed.

    `ordered` says that the rows come in an order worth keeping, as ORDER BY gives it.
    """

    def __init__(self, metadata: TableMetadata, io: FileIO, *, ordered: bool = False) -> None:
        super().__init__(io)
        self.files: list[DataFile] = []
        self.rows = 0
        self._metadata = metadata
        self._ordered = ordered
        self._sorting = order_of(metadata) is not None
        self._seen = arrow_schema_of(metadata.schema())
        self._target = Target(io, Columns(metadata), Layout.of(metadata), sorted=self._sorting)
        self._locations = location_provider(metadata.location, metadata.properties)
        self._id, self._counter = uuid.uuid4(), itertools.count()

    def write_all(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Columns are taken by position: they are those of the table, in order."""
        checked = self._checked(batches)
        partitioned = not self._metadata.spec().is_unpartitioned()
        if self._sorting:
            self._write_sorted(checked)
        elif partitioned:
            self._write_scattered(checked)
        else:
            self._write_plain(checked, 1 if self._ordered else LANES)
        places = {path: place for place, path in enumerate(self.paths)}
        self.files.sort(key=lambda f: places[f.file_path])
        self._check_whole()

    def _check_whole(self) -> None:
        """No row may get lost on the way, nor be written twice: better no commit than that."""
        written = sum(f.record_count for f in self.files)
        if written != self.rows:
            raise InternalError(f"{self.rows} rows were to be written, and the new files have {written}")

    # --- the ways to write ----------------------------------------------------------------------------------------

    def _write_plain(self, batches: Iterable[pa.RecordBatch], lanes: int) -> None:
        groups = self._groups(batches)
        first = list(itertools.islice(groups, 2))
        if len(first) < 2:
            return self._write_here((None, table) for table in first)
        with Lanes([self._files() for _ in range(lanes if first[0].nbytes >= WORTHWHILE else 1)]) as running:
            for table in itertools.chain(_taken(first), groups):
                running.put(None, table)
                del table  # the lane has it; it goes when it is written
        return None

    def _write_scattered(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Rows of several partitions in any order."""
        groups = self._groups(batches)
        first = list(itertools.islice(groups, 2))
        if len(first) < 2:
            return self._write_here(part for table in first for part in split(table, self._metadata))
        with Lanes([self._files() for _ in range(LANES)]) as running:
            fan = FanOut(self._metadata, self._target, _spread(running))
            tables = itertools.chain(_taken(first), groups)
            for table in tables:
                fan.add(table)
                if fan.is_scattered:
                    break
            else:
                fan.finish()
        if fan.is_scattered:
            rest = itertools.chain(fan.drain(), itertools.chain.from_iterable(t.to_batches() for t in tables))
            self._write_sorted(rest)
        return None

    def _write_sorted(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Rows in an order of ours: partition after partition, each in one file after the other."""
        ordered = sorted_rows(batches, self._metadata)
        if self._metadata.spec().is_unpartitioned():
            return self._write_plain(ordered, 1)
        parts = (part for table in self._groups(ordered) for part in split(table, self._metadata))
        with Lanes([self._files(most=1) for _ in range(LANES)]) as running:
            put = _spread(running)
            for key, table in parts:
                put(key, table)
        return None

    def _write_here(self, parts: Iterable[tuple[PartitionKey | None, pa.Table]]) -> None:
        """Few rows: by this thread."""
        files = self._files()
        try:
            for key, table in parts:
                files.write(key, table)
            files.close()
        except BaseException:
            files.discard()
            raise

    # --- parts ----------------------------------------------------------------------------------------------------

    def _checked(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows as they are stored; an error names the row."""
        for batch in batches:
            if batch.num_rows:
                first = self.rows + 1
                shown = conform(arranged(batch, self._seen), self._seen, first=first)
                fitting = conform(shown, self._target.columns.stored, first=first)
                self.rows += batch.num_rows
                yield fitting

    def _groups(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        layout = self._target.layout
        return row_groups(batches, self._target.columns.stored, layout.group_rows, layout.group_bytes)

    def _files(self, most: int | None = None) -> Files:
        limit = {} if most is None else {"most": most}
        return Files(self._target, self._new_path, self.files, **limit)

    def _new_path(self, key: PartitionKey | None) -> str:
        name = f"00000-{next(self._counter)}-{self._id}.parquet"
        path = self._locations.new_data_location(name, key)
        self.paths.append(path)
        return path


def _taken(tables: list[pa.Table]) -> Iterator[pa.Table]:
    """Each once, and not kept."""
    while tables:
        yield tables.pop(0)


def _spread(lanes: Lanes) -> Put:
    """Each partition by a lane of its own, which has its file open."""

    def put(key: PartitionKey, table: pa.Table) -> None:
        lanes.put(key, table, hash(identity(key)) % lanes.count)

    return put
