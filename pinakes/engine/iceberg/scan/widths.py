"""The bytes of the longest rows that were written to a table: a plan that reads long rows has batches of fewer.

The writer records them for its process, and each commit in the summary of its snapshot. What other programs wrote
is not known.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pinakes.engine.datafusion.bounded_functions import sizes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

WIDEST_ROW = "pinakes.widest-row"
UNKNOWN_ROWS = "pinakes.unknown-rows"
"""In the summary of a snapshot if others have written rows of the table, as of its parents."""
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


def are_known(snapshots: Iterable[Snapshot]) -> bool:
    """Whether Pinakes wrote all rows up to these snapshots, and so has recorded the long ones."""
    summaries = [snapshot.summary for snapshot in snapshots]
    return all(s is not None and s.get("engine-name") == "pinakes" and UNKNOWN_ROWS not in s for s in summaries)


def _key(metadata: TableMetadata) -> tuple[str, str]:
    return str(metadata.table_uuid), metadata.location


def _longest(column: pa.ChunkedArray) -> int:
    return max((int(np.max(sizes(chunk))) for chunk in column.chunks if len(chunk) and chunk.nbytes > LONG), default=0)
