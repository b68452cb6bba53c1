"""How many different values columns have, as the metadata of an Iceberg table tells: what ANALYZE, here or elsewhere,
has counted (the `ndv` of a blob of statistics)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.statistics import StatisticsFile

_DIGITS = 18
"""Those of a count that is believed; what a file says may be a text of any length."""


def distinct_counts(metadata: TableMetadata) -> dict[int, float]:
    """By the ids of columns. Of a table that has changed since it was analyzed, the last count that there is: it says
    more than nothing."""
    found: dict[int, float] = {}
    for file in _latest_first(metadata):
        for blob in file.blob_metadata:
            counted = (blob.properties or {}).get("ndv")
            if counted is not None and counted.isascii() and counted.isdecimal() and len(blob.fields) == 1:
                found.setdefault(blob.fields[0], float(counted[:_DIGITS]))
    return found


def _latest_first(metadata: TableMetadata) -> Iterator[StatisticsFile]:
    """The statistics of the current snapshot, and of those that it came from."""
    known = {file.snapshot_id: file for file in metadata.statistics}
    number = metadata.current_snapshot_id
    while known and number is not None:
        if number in known:
            yield known.pop(number)
        snapshot = metadata.snapshot_by_id(number)
        number = None if snapshot is None else snapshot.parent_snapshot_id
