"""Parquet files at local paths as one scan of DataFusion's own (`engine/scan/native.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pds
from datafusion import DataFrame, SessionContext

from pinakes.engine.scan.exact import exact
from pinakes.engine.scan.native import scan_of


def native_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """A scan of these files under a schema; a column that a file lacks is NULL there."""
    return scan_of(_context(), (file.as_uri() for file in files), schema)


def arrow_scan(files: Sequence[Path], schema: pa.Schema) -> DataFrame:
    """The same by Arrow's reader."""
    stored = pds.dataset([str(file) for file in files], schema=schema, format="parquet")
    return _context().read_table(exact(stored))


@cache
def _context() -> SessionContext:
    """Any context will do to make a plan."""
    return SessionContext()
