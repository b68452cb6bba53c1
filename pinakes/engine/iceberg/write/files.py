"""Writes rows to data files: streamed, encoded in parallel with the query, and removed unless a commit keeps them.

    rows → checked → row groups → encoders (`parquet/encoder_threads.py`) → files

Few rows are written by the calling thread. Rows of a partitioned table are grouped by partition (`parquet/fanout.py`);
those of a table with a sort order, or of more partitions than fit in memory, are sorted first (`sorting.py`). Ordered
rows are written by one thread, so that the files have disjoint ranges.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionKey
from pyiceberg.table.metadata import TableMetadata

from pinakes.core.arrays.conform import conform
from pinakes.core.arrays.struct_fields import arrange_fields
from pinakes.core.errors import InternalError
from pinakes.core.iceberg_metadata import checks_of
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.iceberg.write.new_files import NewFiles
from pinakes.engine.iceberg.write.parquet.columns import Columns
from pinakes.engine.iceberg.write.parquet.encoder_threads import EncoderThreads
from pinakes.engine.iceberg.write.parquet.fanout import WORTHWHILE, FanOut, Files, Put
from pinakes.engine.iceberg.write.parquet.file import Target
from pinakes.engine.iceberg.write.parquet.layout import Layout
from pinakes.engine.iceberg.write.parquet.row_groups import row_groups
from pinakes.engine.iceberg.write.partitions import identity, split
from pinakes.engine.iceberg.write.sort_order import order_of
from pinakes.engine.iceberg.write.sorting import sorted_rows
from pinakes.engine.iceberg.write.write_context import current
from pinakes.providers.iceberg.table_io import location_provider

if TYPE_CHECKING:
    from pinakes.engine.iceberg.write.checks import RowChecks

_Batch = tuple[pa.RecordBatch, pa.RecordBatch]
CHECKED_ROWS, CHECKED_BYTES = 100_000, 64 << 20
"""The most rows, and bytes of rows, whose CHECK constraints are evaluated at once."""
ENCODERS = min(os.cpu_count() or 1, 4)
"""The number of encoder threads; each has its own file, so more of them would create more files."""


class FileWriter(NewFiles):
    """Writes batches to new files of a table. A context manager: on exit, files that were not kept are removed.

    `ordered` means that the order of the rows is worth keeping, as with ORDER BY.
    """

    def __init__(self, metadata: TableMetadata, io: FileIO, *, ordered: bool = False) -> None:
        super().__init__(io)
        self.files: list[DataFile] = []
        self.rows = 0
        self._metadata = metadata
        self._ordered = ordered
        self._sorting = order_of(metadata) is not None
        self._seen = arrow_schema_of(metadata.schema())
        self._checks = self._row_checks()
        self._target = Target(io, Columns(metadata), Layout.of(metadata), sorted=self._sorting)
        self._locations = location_provider(metadata.location, metadata.properties)
        self._id, self._counter = uuid.uuid4(), itertools.count()

    def _row_checks(self) -> RowChecks | None:
        conditions = checks_of(self._metadata.properties)
        if not conditions:
            return None
        from pinakes.engine.iceberg.write.checks import RowChecks, refuse_checked

        execution = current().execution
        if execution is None:
            refuse_checked(self._metadata.properties, "this load")
        assert execution is not None
        return RowChecks(conditions, self._seen, execution)

    def write_all(self, batches: Iterable[pa.RecordBatch], unchanged: Iterable[pa.RecordBatch] = ()) -> None:
        """Writes all rows. Columns are matched by position, in the order of the table. Those that are `unchanged` were
        rows of the table before.
        """
        rows = self._fitting(batches) if self._checks is None else self._satisfying(self._checks, batches)
        checked = (fitting for _, fitting in itertools.chain(rows, self._fitting(unchanged)))
        partitioned = not self._metadata.spec().is_unpartitioned()
        if self._sorting:
            self._write_sorted(checked)
        elif partitioned:
            self._write_scattered(checked)
        else:
            self._write_plain(checked, 1 if self._ordered else ENCODERS)
        places = {path: place for place, path in enumerate(self.paths)}
        self.files.sort(key=lambda f: places[f.file_path])
        self._check_whole()

    def _check_whole(self) -> None:
        """Fails before the commit if rows are missing or duplicated."""
        written = sum(f.record_count for f in self.files)
        if written != self.rows:
            raise InternalError(f"{self.rows} rows were to be written, and the new files have {written}")

    # --- write strategies -----------------------------------------------------------------------------------------

    def _write_plain(self, batches: Iterable[pa.RecordBatch], encoders: int) -> None:
        groups = self._groups(batches)
        first = list(itertools.islice(groups, 2))
        if len(first) < 2:
            return self._write_here((None, table) for table in first)
        with EncoderThreads(
            [self._files() for _ in range(encoders if first[0].nbytes >= WORTHWHILE else 1)]
        ) as running:
            for table in itertools.chain(_taken(first), groups):
                running.put(None, table)
                del table  # the writer thread owns it
        return None

    def _write_scattered(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Writes rows of several partitions in any order."""
        groups = self._groups(batches)
        first = list(itertools.islice(groups, 2))
        if len(first) < 2:
            return self._write_here(part for table in first for part in split(table, self._metadata))
        with EncoderThreads([self._files() for _ in range(ENCODERS)]) as running:
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
        """Sorts the rows, then writes partition after partition, one file at a time."""
        ordered = sorted_rows(batches, self._metadata)
        if self._metadata.spec().is_unpartitioned():
            return self._write_plain(ordered, 1)
        parts = (part for table in self._groups(ordered) for part in split(table, self._metadata))
        with EncoderThreads([self._files(most=1) for _ in range(ENCODERS)]) as running:
            put = _spread(running)
            for key, table in parts:
                put(key, table)
        return None

    def _write_here(self, parts: Iterable[tuple[PartitionKey | None, pa.Table]]) -> None:
        """Writes few rows in the calling thread."""
        files = self._files()
        try:
            for key, table in parts:
                files.write(key, table)
            files.close()
        except BaseException:
            files.discard()
            raise

    # --- parts ----------------------------------------------------------------------------------------------------

    def _satisfying(self, checks: RowChecks, batches: Iterable[pa.RecordBatch]) -> Iterator[_Batch]:
        """Yields the rows after their CHECK constraints were evaluated, for many rows at once."""
        waiting: list[_Batch] = []
        count = size = 0
        for batch in self._fitting(batches):
            waiting.append(batch)
            count, size = count + batch[0].num_rows, size + batch[0].nbytes
            if count >= CHECKED_ROWS or size >= CHECKED_BYTES:
                checks.check([shown for shown, _ in waiting])
                yield from waiting
                waiting, count, size = [], 0, 0
        if waiting:
            checks.check([shown for shown, _ in waiting])
            yield from waiting

    def _fitting(self, batches: Iterable[pa.RecordBatch]) -> Iterator[_Batch]:
        """Yields the rows as queries see them and in stored form; an error names the row."""
        for batch in batches:
            if batch.num_rows:
                first = self.rows + 1
                shown = conform(arrange_fields(batch, self._seen), self._seen, first=first)
                fitting = conform(shown, self._target.columns.stored, first=first)
                self.rows += batch.num_rows
                yield shown, fitting

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
    """Yields each table without keeping a reference."""
    while tables:
        yield tables.pop(0)


def _spread(encoders: EncoderThreads) -> Put:
    """Assigns each partition to one thread, which has its file open."""

    def put(key: PartitionKey, table: pa.Table) -> None:
        encoders.put(key, table, hash(identity(key)) % encoders.count)

    return put
