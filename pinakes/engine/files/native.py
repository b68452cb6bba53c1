"""Local Parquet files as one DataFusion scan (`engine/iceberg/scan/native.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
from datafusion import DataFrame, SessionContext

from pinakes.engine.iceberg.scan.native import scan_of


def native_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """Returns a scan of these files with the given schema; columns that a file lacks are NULL."""
    return scan_of(_context(), (file.as_uri() for file in files), schema)


@cache
def _context() -> SessionContext:
    """Returns a context for creating plans; any context works."""
    return SessionContext()
