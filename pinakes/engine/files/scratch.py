"""Directories for what goes with a session or engine. What a process that was killed leaves behind, the next removes.

A directory holds a file that its owner keeps locked. The system gives the lock up with the process, however that ends:
so the next directory made in the same place shows which ones have no owner any more. On a system without such
locks (Windows) nothing is known and nothing is removed but by its owner.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pinakes.engine.files.access import PRIVATE

_LOCK = "owner.lock"
_ATTEMPTS = 100


class Scratch:
    """A new directory, for this process and user alone, until `remove`. `prefix` is how its name begins; nothing else
    may have such names, and with the default one it is closed to SQL (`files/access.py`)."""

    def __init__(self, base: str | None = None, prefix: str = PRIVATE) -> None:
        parent = Path(base or tempfile.gettempdir())
        parent.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(parent, prefix)
        self.path, self._lock = _create(parent, prefix)
        self._process = os.getpid()

    def remove(self) -> None:
        """Once and for all; a process that was forked leaves it to its parent."""
        if self._lock is not None and os.getpid() == self._process:
            lock, self._lock = self._lock, None
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(lock)
            if sys.platform == "win32":  # where an open file stays
                shutil.rmtree(self.path, ignore_errors=True)


def _create(parent: Path, prefix: str) -> tuple[Path, int | None]:
    """A directory and the lock on it. Another process may take it for abandoned before it is locked: then again."""
    for _ in range(_ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue
        if _try_lock(lock) and _is_at(lock, path / _LOCK):
            return path, lock
        os.close(lock)
    raise OSError(f"no directory in {parent} can be kept")


def _remove_left_behind(parent: Path, prefix: str) -> None:
    for path in _candidates(parent, prefix):
        try:  # made where it is missing: an owner that comes for it now finds it locked, and takes another directory
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # not ours, or removed meanwhile
            continue
        if _try_lock(lock):
            shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _candidates(parent: Path, prefix: str) -> Iterator[Path]:
    """Directories like ours, of this user; none where there are no locks to tell whose they are."""
    if sys.platform == "win32":
        return
    with os.scandir(parent) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix):
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # its owner was faster
                continue
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                yield Path(entry.path)


def _try_lock(file: int) -> bool:
    """Take the lock, unless somebody has it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: int, path: Path) -> bool:
    """Whether the open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
