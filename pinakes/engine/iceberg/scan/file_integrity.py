"""Checks that files which a query reads natively exist and are complete while it reads them.

DataFusion silently leaves out a file that is missing at planning time. Local files are checked before the first row and
after the last. Files of object stores are checked after planning, while the query runs (`Lookout`): a file that exists
then existed before, since data files are never recreated; a file that is removed later fails when it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pinakes.core.errors import DataCorrupt
from pinakes.core.parquet_footer import read_footer
from pinakes.engine.datafusion.avro import address_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyarrow.fs import FileSystem
    from pyarrow.parquet import FileMetaData

AT_ONCE = 16
"""The number of object store files that are checked concurrently."""
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Local:
    """A local file, and its minimum size."""

    table: str
    path: str
    size: int
    host: ClassVar[str] = ""
    """The object store of the file: one scan cannot read from several."""

    @property
    def url(self) -> str:
        return address_of(self.path)

    def footer(self) -> FileMetaData:
        """Reads the footer of a Parquet file."""
        with open(self.path, "rb") as opened:  # noqa: PTH123 - creating a Path costs more
            return read_footer(opened)

    def check(self) -> None:
        """Checks existence and size: DataFusion skips missing files, and reads replaced ones as they are."""
        try:
            size = os.stat(self.path).st_size  # noqa: PTH116 - creating a Path costs more than the stat call
        except OSError as error:
            raise DataCorrupt(f"table {self.table}: {self.path} cannot be read: {error.strerror}") from error
        if size < self.size:
            raise _shorter(self.table, self.path, size, self.size)


@dataclass(frozen=True, slots=True)
class Remote:
    """A file of an object store, and its minimum size."""

    table: str
    path: str
    """The location in the metadata."""
    size: int
    host: str
    """The host under which the store is registered; internal to DataFusion."""
    source: str
    """Bucket and key."""
    url: str = field(repr=False)
    system: FileSystem = field(repr=False, compare=False)
    store: object = field(repr=False, compare=False)
    """Keeps the store registered."""

    def footer(self) -> FileMetaData:
        with self.system.open_input_file(self.source) as opened:
            return read_footer(opened)

    def check(self) -> None:
        from pyarrow.fs import FileType

        from pinakes.providers.foreign_errors import translate_foreign

        where = f"table {self.table}: {self.path}"
        try:
            info = self.system.get_file_info(self.source)
        except OSError as error:
            typed = translate_foreign(error, where) or DataCorrupt(f"{where} cannot be read: {error}")
            raise typed from error
        if info.type != FileType.File:
            raise DataCorrupt(f"{where} cannot be read: the object store has no such file")
        if info.size < self.size:
            raise _shorter(self.table, self.path, info.size, self.size)


Watched = Local | Remote


class Lookout:
    """Checks files of object stores while a query reads them."""

    def __init__(self, files: Iterable[Remote]) -> None:
        checked = list(files)
        self._pool = ThreadPoolExecutor(min(AT_ONCE, len(checked)), thread_name_prefix="pinakes-lookout")
        self._checks: set[Future[None]] = {self._pool.submit(file.check) for file in checked}

    def wait(self) -> None:
        """Waits until all files are checked; in Python, where an interrupt can surface."""
        while self._checks:
            done, self._checks = wait(self._checks, timeout=_POLL_SECONDS, return_when="FIRST_EXCEPTION")
            for one in done:
                one.result()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _shorter(table: str, path: str, size: int, said: int) -> DataCorrupt:
    return DataCorrupt(f"table {table}: {path} has {size} bytes; the metadata says {said}")
