"""What the summary of an Iceberg snapshot says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot


def said(snapshot: Snapshot | None, key: str) -> str | None:
    """None if it says nothing of it, or there is no snapshot."""
    return None if snapshot is None or snapshot.summary is None else snapshot.summary[key]


def said_number(snapshot: Snapshot | None, key: str) -> int:
    """A count; 0 if it is not told."""
    return int(said(snapshot, key) or 0)
