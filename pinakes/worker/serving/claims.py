"""Assigns the splits of a call to the processes that share it: a counter in a file, incremented under a lock.

The process that finds all splits taken removes the file; later processes find nothing left.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_OLD_SECONDS = 24 * 3600


class Claims:
    """The claims of one execution."""

    def __init__(self, execution_id: bytes) -> None:
        self._path = _directory() / execution_id.hex()

    def begin(self, pieces: int) -> None:
        """Creates the counter, with all splits free."""
        _remove_old(self._path.parent)
        fd = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(f"0 {pieces}")

    def take(self) -> int | None:
        """Claims a split and returns its number; None if there is none left."""
        import fcntl

        try:
            file = self._path.open("r+")
        except FileNotFoundError:
            return None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            taken, pieces = map(int, file.read().split())
            if taken >= pieces:
                self._path.unlink(missing_ok=True)
                return None
            file.seek(0)
            file.write(f"{taken + 1} {pieces}")
            file.truncate()
            return taken

    def end(self) -> None:
        """Ends the execution: no more splits can be claimed."""
        self._path.unlink(missing_ok=True)


def _directory() -> Path:
    import tempfile

    path = Path(tempfile.gettempdir()) / f"pinakes-worker-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise PermissionError(f"{path} is another user's")
    return path


def _remove_old(directory: Path) -> None:
    """Removes files that killed processes left behind."""
    for path in directory.iterdir():
        try:
            if path.stat().st_mtime < time.time() - _OLD_SECONDS:
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            continue
