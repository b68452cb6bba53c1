"""Files that stay as they were: each is stamped when it is found, and looked at again when it was read.

DataFusion leaves out a file that is gone by the time it is read, and a file that is replaced meanwhile gives rows of
both. Neither may pass for an answer: a statement checks the stamps before its first row and after its last, which for a
statement that writes is before anything becomes visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import DataCorrupt

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File


class Stamp(NamedTuple):
    """What differs when a file was written to, or another was put in its place."""

    size: int
    modified: int | str
    identity: int | str
    """The number that a file system has for it, or the ETag of an object store."""


def stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


def check_unchanged(files: Iterable[File]) -> None:
    """DataCorrupt for the first file that is not what it was when it was found."""
    seen = list(files)
    for file, now in zip(seen, _stamps(seen), strict=True):
        if now is None:
            raise DataCorrupt(f"{file} was removed while the statement read it: run it again")
        if now != file.stamp:
            sizes = f", from {file.stamp.size} to {now.size} bytes" if now.size != file.stamp.size else ""
            raise DataCorrupt(f"{file} was changed while the statement read it{sizes}: run it again")


def _stamps(files: Sequence[File]) -> list[Stamp | None]:
    """None for what is gone. Object stores are asked for many files at once."""
    if all(file.is_local for file in files):
        return [_stamp(file) for file in files]
    from pinakes.engine.files.stores import each

    return each(_stamp, files)


def _stamp(file: File) -> Stamp | None:
    try:
        return file.stamped()
    except OSError:
        return None
