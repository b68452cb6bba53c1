"""Files that a query reads natively: they must be there, whole, for as long as it reads them.

DataFusion leaves out a file that it does not find while it plans, and says nothing. Files of this machine are looked at
before the first row and after the last. Files of object stores are looked at once DataFusion has planned, while it
reads (`Lookout`): what is there after that was there before, since no file of a table comes back; and one that goes
later fails where it is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import DataCorrupt
from pinakes.engine.iceberg.scan.locations import address_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyarrow.fs import FileSystem

AT_ONCE = 16
"""How many files of object stores are looked at at the same time."""
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Local:
    """A file of this machine, and how long it must be."""

    table: str
    path: str
    size: int

    @property
    def url(self) -> str:
        return address_of(self.path)

    @property
    def host(self) -> str:
        """Which object store it is of: files of several can't be one scan."""
        return ""

    @property
    def opened(self) -> dict[str, Any]:
        """What Arrow takes to open it."""
        return {"filesystem": None}

    @property
    def source(self) -> str:
        return self.path

    def check(self) -> None:
        """DataFusion leaves out a file that is not there, and reads of one that was replaced what it finds."""
        try:
            size = os.stat(self.path).st_size  # noqa: PTH116 - a Path takes longer to make than to look at
        except OSError as error:
            raise DataCorrupt(f"table {self.table}: {self.path} cannot be read: {error.strerror}") from error
        if size < self.size:
            raise _shorter(self.table, self.path, size, self.size)


@dataclass(frozen=True, slots=True)
class Remote:
    """A file of an object store, and how long it must be."""

    table: str
    path: str
    """The location that the metadata names."""
    size: int
    host: str
    """What the store is registered as: nobody but DataFusion is to see it."""
    source: str
    """Bucket and key."""
    url: str = field(repr=False)
    system: FileSystem = field(repr=False, compare=False)
    store: object = field(repr=False, compare=False)
    """Held, so that the store stays registered."""

    @property
    def opened(self) -> dict[str, Any]:
        return {"filesystem": self.system}

    def check(self) -> None:
        from pyarrow.fs import FileType

        from pinakes.providers.foreign_errors import translate_foreign

        asked = f"table {self.table}: {self.path}"
        try:
            info = self.system.get_file_info(self.source)
        except OSError as error:
            told = translate_foreign(error, asked) or DataCorrupt(f"{asked} cannot be read: {error}")
            raise told from error
        if info.type != FileType.File:
            raise DataCorrupt(f"{asked} cannot be read: the object store has no such file")
        if info.size < self.size:
            raise _shorter(self.table, self.path, info.size, self.size)


Watched = Local | Remote


class Lookout:
    """Looks at files of object stores beside the query that reads them."""

    def __init__(self, files: Iterable[Remote]) -> None:
        asked = list(files)
        self._pool = ThreadPoolExecutor(min(AT_ONCE, len(asked)), thread_name_prefix="pinakes-lookout")
        self._asked: set[Future[None]] = {self._pool.submit(file.check) for file in asked}

    def wait(self) -> None:
        """Until all were looked at; it is waited for in Python, where an interrupt can surface."""
        while self._asked:
            done, self._asked = wait(self._asked, timeout=_POLL_SECONDS, return_when="FIRST_EXCEPTION")
            for one in done:
                one.result()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _shorter(table: str, path: str, size: int, said: int) -> DataCorrupt:
    return DataCorrupt(f"table {table}: {path} has {size} bytes; the metadata says {said}")
