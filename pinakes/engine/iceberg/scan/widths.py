"""The bytes of the longest rows that were written to a table: a plan that reads long rows has batches of fewer.

The writer records them for its process, and each commit in the summary of its snapshot. What other programs wrote
is not known.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from pinakes.engine.datafusion.bounded_functions import sizes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table.metadata import TableMetadata

WIDEST_ROW = "pinakes.widest-row"
LONG = 1_000
"""Bytes of a value from which it counts."""
_MOST_TABLES = 10_000

_lock = threading.Lock()
_widest: dict[tuple[str, str], int] = {}


def record_rows(metadata: TableMetadata, rows: pa.Table) -> None:
    """Records the long values of rows that are written."""
    width = sum(longest for column in rows.columns if (longest := _longest(column)) > LONG)
    if not width:
        return
    key = _key(metadata)
    with _lock:
        _widest[key] = max(width, _widest.pop(key, 0))
        if len(_widest) > _MOST_TABLES:
            _widest.pop(next(iter(_widest)))


def widest_row(metadata: TableMetadata) -> int:
    """The bytes of the long values of a row at most; 0 if none is long."""
    snapshot = metadata.current_snapshot()
    found = snapshot.summary.get(WIDEST_ROW) if snapshot is not None and snapshot.summary is not None else None
    stored = int(found) if found is not None and found.isdecimal() and len(found) < 16 else 0
    return max(stored, _widest.get(_key(metadata), 0))


def records_widths(metadata: TableMetadata) -> bool:
    """Whether all snapshots of a table are by Pinakes, which records long rows."""
    summaries = [snapshot.summary for snapshot in metadata.snapshots]
    return all(summary is not None and summary.get("engine-name") == "pinakes" for summary in summaries)


def _key(metadata: TableMetadata) -> tuple[str, str]:
    return str(metadata.table_uuid), metadata.location


def _longest(column: pa.ChunkedArray) -> int:
    return max((int(np.max(sizes(chunk))) for chunk in column.chunks if len(chunk) and chunk.nbytes > LONG), default=0)
