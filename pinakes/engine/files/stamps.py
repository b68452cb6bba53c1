"""Detects changes of files: each is stamped when it is found, and checked again after it was read.

DataFusion skips a file that no longer exists when it is read, and a file that is replaced meanwhile gives rows of both
versions. To prevent wrong results, a statement checks the stamps before its first row and after its last; for a
statement that writes, that is before its changes become visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import DataCorrupt

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File


class Stamp(NamedTuple):
    """The version of a file: differs after a write or a replacement."""

    size: int
    modified: int | str
    identity: int | str
    """The inode number, or the ETag of an object store."""


def stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


def check_unchanged(files: Iterable[File]) -> None:
    """Raises DataCorrupt for the first file that has changed since it was found."""
    seen = list(files)
    for file, now in zip(seen, _stamps(seen), strict=True):
        if now is None:
            raise DataCorrupt(f"{file} was removed while the statement read it: run it again")
        if now != file.stamp:
            sizes = f", from {file.stamp.size} to {now.size} bytes" if now.size != file.stamp.size else ""
            raise DataCorrupt(f"{file} was changed while the statement read it{sizes}: run it again")


def _stamps(files: Sequence[File]) -> list[Stamp | None]:
    """Returns the current stamps; None for missing files. Object stores are queried in parallel."""
    if all(file.is_local for file in files):
        return [_stamp(file) for file in files]
    from pinakes.engine.files.object_stores.stores import call_parallel

    return call_parallel(_stamp, files)


def _stamp(file: File) -> Stamp | None:
    try:
        return file.current_stamp()
    except OSError:
        return None
