"""Writes the row groups of one partition to a sequence of files, each closed at the target size."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionKey

from pinakes.engine.iceberg.write.parquet.file import OpenFile, Target

NewPath = Callable[[PartitionKey | None], str]
"""Returns the path of a new file; the caller records it to remove the file on failure."""


class Rolling:
    """A sequence of files: `write` row groups, then `close`."""

    def __init__(self, target: Target, key: PartitionKey | None, new_path: NewPath, done: list[DataFile]) -> None:
        self._target, self._key, self._new_path, self._done = target, key, new_path, done
        self._file: OpenFile | None = None

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def write(self, table: pa.Table) -> None:
        table = self._target.columns.of_file(table)
        if self._file is None:
            self._file = OpenFile(self._target, self._new_path(self._key), self._key, table)
        self._file.write(table)
        if self._file.size >= self._target.layout.file_bytes:
            self.close()

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            try:
                self._done.append(file.close())
            except BaseException:
                file.discard()
                raise

    def discard(self) -> None:
        if self._file is not None:
            self._file.discard()
