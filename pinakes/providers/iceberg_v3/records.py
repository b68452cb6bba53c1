"""Manifests and data files as version 3 has them: with the first row id, and with where a deletion vector stands.

pyiceberg reads manifests as version 2 has them and so loses the row ids, which a commit must carry on: a manifest that
stays keeps its `first_row_id`, and a data file that moves to another manifest takes the one that it inherited along.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pyiceberg.avro.file import AvroFile
from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DATA_FILE_TYPE,
    MANIFEST_ENTRY_SCHEMAS,
    MANIFEST_LIST_FILE_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    PartitionFieldSummary,
)
from pyiceberg.manifest import _inherit_from_manifest as inherit_sequence_numbers

_MANIFEST_WIDTH = len(MANIFEST_LIST_FILE_SCHEMAS[3].fields)
_DATA_FILE_WIDTH = len(DATA_FILE_TYPE[3].fields)


class DataFileV3(DataFile):
    """A data or delete file with the four fields that version 3 adds."""

    @classmethod
    def of(cls, file: DataFile) -> DataFileV3:
        """The same file; what an older version does not know of it is None."""
        copy = cls(*file._data, *[None] * (_DATA_FILE_WIDTH - len(file._data)))
        if hasattr(file, "_spec_id"):
            copy.spec_id = file.spec_id
        return copy

    @property
    def first_row_id(self) -> int | None:
        return cast("int | None", self._data[16])

    @first_row_id.setter
    def first_row_id(self, value: int | None) -> None:
        self._data[16] = value

    @property
    def referenced_data_file(self) -> str | None:
        return cast("str | None", self._data[17])

    @property
    def content_offset(self) -> int | None:
        return cast("int | None", self._data[18])

    @property
    def content_size_in_bytes(self) -> int | None:
        return cast("int | None", self._data[19])


class ManifestFileV3(ManifestFile):
    """A manifest as a manifest list of version 3 names it; one that no snapshot has yet has no first row id."""

    @classmethod
    def of(cls, manifest: ManifestFile) -> ManifestFileV3:
        return cls(*manifest._data, *[None] * (_MANIFEST_WIDTH - len(manifest._data)))

    @property
    def first_row_id(self) -> int | None:
        return cast("int | None", self._data[15])

    @first_row_id.setter
    def first_row_id(self, value: int | None) -> None:
        self._data[15] = value

    def fetch_manifest_entry(self, io: FileIO, discard_deleted: bool = True) -> list[ManifestEntry]:
        """The entries, each with what it inherits: sequence numbers, partition spec and first row id."""
        with AvroFile[ManifestEntry](
            io.new_input(self.manifest_path),
            MANIFEST_ENTRY_SCHEMAS[3],
            read_types={-1: ManifestEntry, 2: DataFileV3},
            read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
        ) as reader:
            entries = [inherit_sequence_numbers(entry, self) for entry in reader]
        self._number(entries)
        return [e for e in entries if not discard_deleted or e.status != ManifestEntryStatus.DELETED]

    def _number(self, entries: list[ManifestEntry]) -> None:
        """A file without a row id of its own starts where the one before it, of the same kind, ended."""
        following = self.first_row_id
        if following is None:
            return
        for entry in entries:
            file = cast("DataFileV3", entry.data_file)
            if entry.status != ManifestEntryStatus.DELETED and file.first_row_id is None:
                file.first_row_id = following
                following += file.record_count


def read_manifest_list(io: FileIO, path: str) -> Iterator[ManifestFileV3]:
    """The manifests of a snapshot. Not cached by path as pyiceberg does it: a manifest from before an upgrade has
    another row id in each branch, and none in older snapshots."""
    with AvroFile[ManifestFileV3](
        io.new_input(path),
        MANIFEST_LIST_FILE_SCHEMAS[3],
        read_types={-1: ManifestFileV3, 508: PartitionFieldSummary},
        read_enums={517: ManifestContent},
    ) as reader:
        yield from reader
