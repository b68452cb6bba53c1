"""The state that a version stored, unpacked where it was written.

Iceberg's metadata names files by absolute paths, some of them within compressed files. So the state is written at one
place that does not depend on the machine, and unpacked there again, byte by byte; one process at a time has the place.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = Path("/tmp/pinakes-compatibility")
HERE = Path(__file__).parent
VERSIONS = sorted(path.parent for path in HERE.glob("*/state.tar.xz"))


@contextmanager
def place() -> Iterator[Path]:
    """The directory, empty, for this process alone; it is removed afterwards."""
    lock = os.open(PLACE.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir(mode=0o700)
        yield PLACE
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
        os.close(lock)


@contextmanager
def unpacked(version: Path) -> Iterator[Path]:
    """What the version stored, to be read and changed."""
    with place() as root, tarfile.open(version / "state.tar.xz") as archive:
        archive.extractall(root, filter="data")
        yield root
