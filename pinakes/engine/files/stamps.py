"""Files that stay as they were: each is stamped when it is found, and looked at again when it was read.

DataFusion leaves out a file that is gone by the time it is read, and a file that is replaced meanwhile gives rows of
both. Neither may pass for an answer: a statement checks the stamps before its first row and after its last, which for a
statement that writes is before anything becomes visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import DataCorrupt

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File


class Stamp(NamedTuple):
    """What differs when a file was written to, or another was put in its place."""

    size: int
    modified: int
    inode: int


def stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


def check_unchanged(files: Iterable[File]) -> None:
    """DataCorrupt for the first file that is not what it was when it was found."""
    for file in files:
        try:
            now = stamp_of(file.real)
        except OSError as error:
            raise DataCorrupt(f"{file} was removed while the statement read it: run it again") from error
        if now != file.stamp:
            sizes = f", from {file.stamp.size} to {now.size} bytes" if now.size != file.stamp.size else ""
            raise DataCorrupt(f"{file} was changed while the statement read it{sizes}: run it again")
