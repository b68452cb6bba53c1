"""Parquet files at local paths as one scan of DataFusion's own (`engine/iceberg/scan/native.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
from datafusion import DataFrame, SessionContext

from pinakes.engine.iceberg.scan.native import scan_of


def native_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """A scan of these files under a schema; a column that a file lacks is NULL there."""
    return scan_of(_context(), (file.as_uri() for file in files), schema)


@cache
def _context() -> SessionContext:
    """Any context will do to make a plan."""
    return SessionContext()
