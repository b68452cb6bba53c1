"""Delete files as other engines write them: pyiceberg reads such, but writes none."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
)
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles as FastAppend

POSITIONS = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)


def delete_positions(table: Table, task: FileScanTask, positions: Sequence[int]) -> None:
    """Commit a positional delete file for some rows of one data file."""
    rows = pa.table({"file_path": [task.file.file_path] * len(positions), "pos": sorted(positions)}, schema=POSITIONS)
    path = _bounds(task.file.file_path)
    _commit(table, task, rows, DataFileContent.POSITION_DELETES, lower_bounds=path, upper_bounds=path)


def delete_equal(table: Table, task: FileScanTask, rows: pa.Table, ids: Sequence[int]) -> None:
    """Commit an equality delete file: rows with these values are gone, in the partition of a data file."""
    _commit(table, task, rows, DataFileContent.EQUALITY_DELETES, equality_ids=list(ids))


def _bounds(path: str) -> dict[int, bytes]:
    return {2147483546: path.encode()}


def _commit(table: Table, task: FileScanTask, rows: pa.Table, content: DataFileContent, **more: Any) -> None:
    location = f"{table.location()}/data/{uuid.uuid4()}-deletes.parquet"
    with table.io.new_output(location).create() as stream, pq.ParquetWriter(stream, rows.schema) as writer:
        writer.write_table(rows)
    file = DataFile.from_args(
        content=content,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=task.file.partition,
        record_count=rows.num_rows,
        file_size_in_bytes=len(table.io.new_input(location)),
        **more,
    )
    file.spec_id = task.file.spec_id
    transaction = table.transaction()
    with _AddDelete(Operation.DELETE, transaction, table.io, file) as change:
        assert isinstance(change, _AddDelete)
    transaction.commit_transaction()


class _DeleteManifest(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class _AddDelete(FastAppend):
    def __init__(self, operation: Operation, transaction: Any, io: Any, file: DataFile) -> None:
        super().__init__(operation=operation, transaction=transaction, io=io)
        self._file = file

    def _manifests(self) -> list[ManifestFile]:
        metadata = self._transaction.table_metadata
        spec = metadata.specs()[self._file.spec_id]
        with _DeleteManifest(
            spec, metadata.schema(), self.new_manifest_output(), self._snapshot_id, self._compression
        ) as writer:
            writer.add(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED,
                    snapshot_id=self._snapshot_id,
                    sequence_number=None,
                    file_sequence_number=None,
                    data_file=self._file,
                )
            )
        return [writer.to_manifest_file(), *self._existing_manifests()]
