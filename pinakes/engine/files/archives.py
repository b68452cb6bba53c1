"""Files in .zip archives: the only one of an archive, or one that is named, as in 'data.zip/orders.csv'.

Members are read as streams, so that their size is not limited by memory. Only methods without a dictionary of any size
are supported.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pinakes.core.errors import DataCorrupt, FileNotFound, InvalidArgument, NotSupportedError, listing
from pinakes.core.suggestions import close_to

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".zip"
_MOST_BYTES_OF_DIRECTORY = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BUFFER = 1 << 18


def find_member(path: Path, shown: str, wanted: str | None) -> str:
    """Returns the name of the member to read; `shown` is the archive in errors."""
    try:
        with path.open("rb") as opened:
            end: Any = zipfile._EndRecData(opened)  # type: ignore[attr-defined]
            if end is not None and end[5] > _MOST_BYTES_OF_DIRECTORY:
                raise DataCorrupt(f"'{shown}' has too many members to be read")
            opened.seek(0)
            with zipfile.ZipFile(opened) as archive:
                members = {info.filename: info for info in archive.infolist() if _is_file(info)}
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise DataCorrupt(f"'{shown}' is not a readable zip archive: {error}") from error
    if wanted is None and len(members) != 1:
        if not members:
            raise DataCorrupt(f"'{shown}' has no files in it")
        first = next(iter(members))
        raise InvalidArgument(f"'{shown}' has several files: {listing(members)}. Name one, as in '{shown}/{first}'")
    name = next(iter(members)) if wanted is None else wanted
    if name not in members:
        hint = "".join(f" Did you mean '{shown}/{near}'?" for near in close_to(name, members, most=1))
        raise FileNotFound(f"'{shown}' has no file {name!r} in it.{hint or f' It has: {listing(members)}'}")
    info = members[name]
    if info.flag_bits & 1 or info.compress_type not in _METHODS:
        what = "is encrypted" if info.flag_bits & 1 else "is compressed in a way that is not supported"
        raise NotSupportedError(f"'{shown}/{name}' {what}: unpack the archive, and name the file")
    return name


def _is_file(info: zipfile.ZipInfo) -> bool:
    base = info.filename.rpartition("/")[2]
    return not info.is_dir() and not info.filename.startswith("__MACOSX/") and not base.startswith(".")


def open_member(path: Path, name: str) -> pa.NativeFile:
    """Opens a member for sequential reading."""
    import pyarrow as pa

    return pa.PythonFile(io.BufferedReader(_Member(path, name), _BUFFER), "r")


class _Member(io.RawIOBase):
    """The bytes of a member; damage is an OSError, as of other files."""

    def __init__(self, path: Path, name: str) -> None:
        self._archive: zipfile.ZipFile | None = None
        self._stream: IO[bytes] | None = None
        try:
            self._archive = zipfile.ZipFile(path)
            self._stream = self._archive.open(name)
        except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, ValueError) as error:
            self.close()
            raise OSError(f"its archive is damaged: {error}") from error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        assert self._stream is not None
        try:
            found = self._stream.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise OSError(f"its archive is damaged: {error}") from error
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._archive is not None:
            self._archive.close()
        super().close()
