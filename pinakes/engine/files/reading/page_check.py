"""Parquet files that a server reads natively although others wrote them: their pages are checked first, once for each
version of a file (`core/parquet_pages.py`)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pinakes.core.parquet_pages import is_native
from pinakes.engine.files.stamps import Stamp, stamp_of

KEPT = 100_000


def is_safe(path: str | Path) -> bool:
    """Returns whether DataFusion can read a local file; ValueError if the file would take more memory than it should.
    Files that Arrow must read instead are not malformed."""
    return _is_safe(str(path), stamp_of(Path(path)))


@lru_cache(maxsize=KEPT)
def _is_safe(path: str, stamp: Stamp) -> bool:
    with open(path, "rb", buffering=1 << 12) as opened:  # noqa: PTH123 - creating a Path costs more
        return is_native(opened)
