"""The data files of a snapshot with their deletes, as input of pyiceberg's reader."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent

from pinakes.caches.files import ManifestCache
from pinakes.config.model import SizedCacheConfig
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NotSupportedError
from pinakes.engine.iceberg.scan.deletes import NONE, Deletes
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles, files_of
from pinakes.engine.iceberg.scan.unreadable import reading

_FORMATS: Mapping[str, FileFormat] = {"PARQUET": FileFormat.PARQUET, "ORC": FileFormat.ORC, "AVRO": FileFormat.AVRO}


@dataclass(frozen=True, slots=True)
class Task:
    """A data file and its deletes."""

    file: DataFile
    deletes: Deletes = NONE
    sequence: int = 0
    """The data sequence number of the file."""

    @property
    def is_clean(self) -> bool:
        return not self.deletes


def task_of(files: SnapshotFiles, number: int) -> Task:
    """Returns a file of a snapshot with only the metadata that a reader needs."""
    row = files.table.slice(number, 1).select(["file_path", "file_format", "record_count"]).to_pylist()[0]
    if row["file_format"].upper() not in _FORMATS:
        raise NotSupportedError(
            f"{row['file_path']} is a file of {row['file_format']}; Parquet, ORC and Avro can be read"
        )
    spec_id, partition = files.partition(number)
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=row["file_path"],
        file_format=_FORMATS[row["file_format"].upper()],
        partition=partition,
        record_count=row["record_count"],
        file_size_in_bytes=files.sizes[number],
    )
    file.spec_id = spec_id
    return Task(file, files.deletes.get(number, NONE))


def plan(table: IcebergTable, files: SnapshotFiles | None = None, numbers: Collection[int] | None = None) -> list[Task]:
    """Returns the data files of the current snapshot, all or those with these numbers, with full metadata, for changes.

    Only the manifests that list these files are read.
    """
    snapshot = table.handle.current_snapshot()
    if snapshot is None:
        return []
    files = files or files_of(table, for_once())
    numbers = range(len(files)) if numbers is None else numbers
    paths, within = {files.paths[n] for n in numbers}, files.manifests_of(numbers)
    with reading(table, snapshot.manifest_list):
        manifests = [
            m
            for m in snapshot.manifests(table.handle.io)
            if m.content == ManifestContent.DATA and m.manifest_path in within
        ]
        planner = table.handle.scan()._manifest_planner
        found = planner.plan_files(manifests, lambda entry: entry.data_file.file_path in paths)
        return [_task(task.file, files) for task in found]


def _task(file: DataFile, files: SnapshotFiles) -> Task:
    number = files.numbers[file.file_path]
    sequence = files.table.column("sequence_number")[number].as_py()
    return Task(file, files.deletes.get(number, NONE), sequence)


def for_once() -> ManifestCache:
    """Returns a cache for one statement that reads a snapshot which it will replace."""
    return ManifestCache(SizedCacheConfig(max_bytes=64_000_000))
