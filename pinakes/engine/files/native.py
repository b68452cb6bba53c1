"""Parquet files at local paths as one scan of DataFusion's own (`engine/datafusion/parquet_scan.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
from datafusion import DataFrame, SessionContext

from pinakes.engine.datafusion.parquet_scan import scan_of


def native_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """Returns a scan of these files with the given schema; columns that a file lacks are NULL."""
    return scan_of(_context(), (file.as_uri() for file in files), schema)


@cache
def _context() -> SessionContext:
    """Returns a context for creating plans; any context works."""
    return SessionContext()
