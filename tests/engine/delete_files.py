"""Delete files as other engines write them: pyiceberg reads such, but writes none."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

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
    ManifestWriter,
    ManifestWriterV2,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles as FastAppend
from pyiceberg.typedef import Record

from pinakes.providers.iceberg.v3.records import DataFileV3
from pinakes.providers.iceberg.v3.writers import ManifestWriterV3
from tests.engine.puffin import puffin

PATH, POS = 2147483546, 2147483545
POSITIONS = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": str(PATH)}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": str(POS)}),
    ]
)


class HasFile(Protocol):
    """A data file of a scan, pyiceberg's or ours."""

    @property
    def file(self) -> DataFile: ...


def delete_positions(table: Table, task: HasFile, positions: Iterable[int]) -> str:
    """Commit a positional delete file for some rows of one data file; gives its path."""
    return delete_positions_of(table, [(task, positions)])


def delete_positions_of(table: Table, gone: Sequence[tuple[HasFile, Iterable[int]]], bounds: bool = True) -> str:
    """One positional delete file for rows of several data files, in the partition of the first."""
    pairs = sorted((task.file.file_path, place) for task, places in gone for place in places)
    rows = pa.table({"file_path": [p for p, _ in pairs], "pos": [n for _, n in pairs]}, schema=POSITIONS)
    least, greatest = ({PATH: pairs[0][0].encode()}, {PATH: pairs[-1][0].encode()}) if pairs and bounds else ({}, {})
    file = _written(table, rows, DataFileContent.POSITION_DELETES, gone[0][0].file.partition, least, greatest)
    file.spec_id = gone[0][0].file.spec_id
    commit(table, [file])
    return str(file.file_path)


def delete_equal(table: Table, task: HasFile | None, rows: pa.Table, ids: Sequence[int], **more: Any) -> str:
    """Commit an equality delete file: rows with these values are gone, in the partition of a data file; or in the
    whole table, without one. The table must have had a spec of no partitions for that."""
    partition = task.file.partition if task else Record()
    file = _written(
        table, rows, DataFileContent.EQUALITY_DELETES, partition, more.get("least", {}), more.get("greatest", {})
    )
    file._data[14] = list(ids)
    specs = table.metadata.specs()
    file.spec_id = task.file.spec_id if task else next(i for i, s in specs.items() if s.is_unpartitioned())
    if "nulls" in more:
        file._data[8] = more["nulls"]
    commit(table, [file])
    return str(file.file_path)


def delete_vectors(table: Table, gone: Sequence[tuple[HasFile, Iterable[int]]]) -> str:
    """Commit deletion vectors, all in one Puffin file; those that the data files had before make place."""
    content, blobs = puffin({task.file.file_path: rows for task, rows in gone})
    location = f"{table.location()}/data/{uuid.uuid4()}-deletes.puffin"
    with table.io.new_output(location).create() as stream:
        stream.write(content)
    files = []
    for (task, _), blob in zip(gone, blobs, strict=True):
        made = DataFile.from_args(
            _table_format_version=3,
            content=DataFileContent.POSITION_DELETES,
            file_path=location,
            file_format=FileFormat.PUFFIN,
            partition=task.file.partition,
            record_count=blob.count,
            file_size_in_bytes=len(content),
            referenced_data_file=blob.of,
            content_offset=blob.offset,
            content_size_in_bytes=blob.length,
        )
        file = DataFileV3.of(made)
        file.spec_id = task.file.spec_id
        files.append(file)
    commit(table, files)
    return location


def _written(
    table: Table,
    rows: pa.Table,
    content: DataFileContent,
    partition: Record,
    least: Mapping[int, bytes],
    greatest: Mapping[int, bytes],
) -> DataFile:
    location = f"{table.location()}/data/{uuid.uuid4()}-deletes.parquet"
    with table.io.new_output(location).create() as stream, pq.ParquetWriter(stream, rows.schema) as writer:
        writer.write_table(rows)
    return DataFile.from_args(
        content=content,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=partition,
        record_count=rows.num_rows,
        file_size_in_bytes=len(table.io.new_input(location)),
        lower_bounds=dict(least),
        upper_bounds=dict(greatest),
    )


# --- the commit --------------------------------------------------------------------------------------------------


def commit(table: Table, files: Sequence[DataFile]) -> None:
    """Add delete files in one snapshot."""
    transaction = table.transaction()
    with _AddDeletes(Operation.DELETE, transaction, table.io, files) as change:
        assert isinstance(change, _AddDeletes)
    transaction.commit_transaction()


class _Deletes:
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}  # type: ignore[misc]  # of the writer it is mixed with


class _ManifestV2(_Deletes, ManifestWriterV2):
    pass


class _ManifestV3(_Deletes, ManifestWriterV3):
    pass


class _AddDeletes(FastAppend):
    def __init__(self, operation: Operation, transaction: Any, io: Any, files: Sequence[DataFile]) -> None:
        super().__init__(operation=operation, transaction=transaction, io=io)
        self._files = files

    def _manifests(self) -> list[ManifestFile]:
        specs = sorted({file.spec_id for file in self._files})
        added = [self._added([f for f in self._files if f.spec_id == spec], spec) for spec in specs]
        return [*added, *(m for old in self._existing_manifests() for m in self._without_replaced(old))]

    def _added(self, files: Sequence[DataFile], spec_id: int) -> ManifestFile:
        with self._writer(spec_id) as writer:
            for file in files:
                writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, data_file=file))
        return writer.to_manifest_file()

    def _writer(self, spec_id: int) -> ManifestWriter:
        metadata = self._transaction.table_metadata
        kind = _ManifestV3 if metadata.format_version >= 3 else _ManifestV2
        output = self.new_manifest_output()
        return kind(metadata.specs()[spec_id], metadata.schema(), output, self._snapshot_id, self._compression)

    def _without_replaced(self, old: ManifestFile) -> list[ManifestFile]:
        """A data file has one vector at most."""
        if old.content == ManifestContent.DATA or not any(_target(f) for f in self._files):
            return [old]
        entries = old.fetch_manifest_entry(self._io)
        doomed = {_target(file) for file in self._files} - {None}
        kept = [e for e in entries if _target(e.data_file) not in doomed]
        if len(kept) == len(entries) or not kept:
            return [old] if kept else []
        with self._writer(old.partition_spec_id) as writer:
            for entry in kept:
                writer.existing(entry)
        return [writer.to_manifest_file()]


def _target(file: DataFile) -> str | None:
    return file.referenced_data_file if isinstance(file, DataFileV3) else None
