"""Rows become data files: streamed in chunks of bounded size, and removed again unless a commit keeps them."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections.abc import Iterable
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import _dataframe_to_data_files as data_files
from pyiceberg.manifest import DataFile
from pyiceberg.table.metadata import TableMetadata

from pinakes.core.conform import conform
from pinakes.core.errors import CommitUnknown
from pinakes.core.iceberg_arrow import arrow_schema_of, stored_schema_of
from pinakes.engine.write.partitions import partitioned_files

log = logging.getLogger(__name__)

CHUNK_BYTES = 128 * 1024 * 1024
"""Rows held in memory before they are written; a file is at most one chunk of one partition."""


class FileWriter:
    """Writes batches to new files of a table. Used as a context: on the way out, files that nobody kept are removed."""

    def __init__(self, metadata: TableMetadata, io: FileIO) -> None:
        self.files: list[DataFile] = []
        self.rows = 0
        self._metadata, self._io = metadata, io
        self._seen = arrow_schema_of(metadata.schema())
        self._stored = stored_schema_of(metadata.schema())
        self._id, self._counter = uuid.uuid4(), itertools.count()
        self._chunk: list[pa.RecordBatch] = []
        self._bytes = 0
        self._kept = False

    def write_all(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Columns are taken by position: they are those of the table, in order."""
        for batch in batches:
            self.write(batch)
        self._flush()

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        fitting = conform(conform(batch, self._seen), self._stored)
        self._chunk.append(fitting)
        self._bytes += fitting.nbytes
        self.rows += fitting.num_rows
        if self._bytes >= CHUNK_BYTES:
            self._flush()

    def keep(self) -> None:
        """The files are part of a table now."""
        self._kept = True

    def _flush(self) -> None:
        if self._chunk:
            table = pa.Table.from_batches(self._chunk, schema=self._stored)
            self._chunk, self._bytes = [], 0
            split = data_files if self._metadata.spec().is_unpartitioned() else partitioned_files
            made = list(split(self._metadata, table, self._io, self._id, self._counter))
            _count_nan(table, made, self._metadata)
            self.files.extend(made)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._kept or isinstance(error, CommitUnknown):
            return
        for file in self.files:
            try:
                self._io.delete(file.file_path)
            except OSError:
                log.warning("could not remove %s, which no snapshot refers to", file.file_path)


def _count_nan(table: pa.Table, files: Iterable[DataFile], metadata: TableMetadata) -> None:
    """Tell that a floating column has no NaN, which pyiceberg does not: readers leave files out by that."""
    for field, column in zip(metadata.schema().fields, table.columns, strict=True):
        if pa.types.is_floating(column.type) and not pc.any(pc.is_nan(column)).as_py():
            for file in files:
                if isinstance(file.nan_value_counts, dict):
                    file.nan_value_counts[field.field_id] = 0
