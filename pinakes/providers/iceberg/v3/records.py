"""Manifests and data files of version 3: with the first row id and the position of a deletion vector.

pyiceberg reads manifests as version 2 and so loses the row ids, which a commit must preserve: a manifest that stays
keeps its `first_row_id`, and a data file that moves to another manifest keeps the one that it inherited.
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
        """Returns the same file; fields that an older version lacks are None."""
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
    """A manifest as a manifest list of version 3 describes it; one that is not in a snapshot yet has no
    first row id.
    """

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
        """Returns the entries, each with its inherited values: sequence numbers, partition spec and first row id."""
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
        """Assigns row ids: a file without one starts where the previous such file ends."""
        following = self.first_row_id
        if following is None:
            return
        for entry in entries:
            file = cast("DataFileV3", entry.data_file)
            if entry.status != ManifestEntryStatus.DELETED and file.first_row_id is None:
                file.first_row_id = following
                following += file.record_count


def read_manifest_list(io: FileIO, path: str) -> Iterator[ManifestFileV3]:
    """Yields the manifests of a snapshot. Not cached by path as in pyiceberg: a manifest from before an upgrade has a
    different row id in each branch, and none in older snapshots.
    """
    with AvroFile[ManifestFileV3](
        io.new_input(path),
        MANIFEST_LIST_FILE_SCHEMAS[3],
        read_types={-1: ManifestFileV3, 508: PartitionFieldSummary},
        read_enums={517: ManifestContent},
    ) as reader:
        yield from reader
