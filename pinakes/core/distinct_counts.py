"""Distinct value counts of columns from the metadata of an Iceberg table, written by ANALYZE of this or another engine
(the `ndv` property of a statistics blob).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.statistics import StatisticsFile

_DIGITS = 18
"""Maximum digits of a count: the value in a file may be a text of any length."""


def distinct_counts(metadata: TableMetadata) -> dict[int, float]:
    """Returns the counts by column id. For a table that changed since ANALYZE, the last count is used."""
    found: dict[int, float] = {}
    for file in _latest_first(metadata):
        for blob in file.blob_metadata:
            counted = (blob.properties or {}).get("ndv")
            if counted is not None and counted.isascii() and counted.isdecimal() and len(blob.fields) == 1:
                found.setdefault(blob.fields[0], float(counted[:_DIGITS]))
    return found


def _latest_first(metadata: TableMetadata) -> Iterator[StatisticsFile]:
    """Yields the statistics files of the current snapshot, then of its ancestors."""
    known = {file.snapshot_id: file for file in metadata.statistics}
    number = metadata.current_snapshot_id
    while known and number is not None:
        if number in known:
            yield known.pop(number)
        snapshot = metadata.snapshot_by_id(number)
        number = None if snapshot is None else snapshot.parent_snapshot_id
