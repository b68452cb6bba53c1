"""Access to the summary of an Iceberg snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot


def said(snapshot: Snapshot | None, key: str) -> str | None:
    """Returns a property of the summary; None if it is missing or there is no snapshot."""
    return None if snapshot is None or snapshot.summary is None else snapshot.summary[key]


def said_number(snapshot: Snapshot | None, key: str) -> int:
    """Returns a count of the summary; 0 if it is missing."""
    return int(said(snapshot, key) or 0)
