"""The cache outside the tree: what is installed once and kept, safe for any number of processes at the same time."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache() -> Path:
    """`~/.cache/pinakes`, unless PINAKES_CACHE names another directory."""
    chosen = os.environ.get("PINAKES_CACHE")
    place = Path(chosen) if chosen else Path.home() / ".cache" / "pinakes"
    place.mkdir(parents=True, exist_ok=True)
    return place.absolute()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time. The lock goes with the process, however that ends; the file stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def once(name: str, make: Callable[[Path], None]) -> Path:
    """The directory `name` of the cache, made by whoever asks first: whole or not at all."""
    final = cache() / "apps" / name
    if final.is_dir():
        return final
    with locked(cache() / "locks" / name):
        if not final.is_dir():
            final.parent.mkdir(exist_ok=True)
            half = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=final.parent))
            try:
                make(half)
                half.chmod(0o755)
                half.rename(final)
            finally:
                shutil.rmtree(half, ignore_errors=True)
    return final
