"""The statistics of one Iceberg table: the rows of SHOW STATS, from metadata only.

They are those of the files. Rows deleted by position are subtracted from the number of rows, but not from column
statistics; the number of rows that an equality delete removes is unknown.
"""

from __future__ import annotations

from typing import NamedTuple

from pyiceberg import types as ice

from pinakes.core.distinct_counts import distinct_counts
from pinakes.system_tables.iceberg_manifests import current_manifests, files_in
from pinakes.system_tables.iceberg_metadata import Inside
from pinakes.system_tables.iceberg_statistics import ColumnStatistics, Statistics
from pinakes.system_tables.iceberg_values import printed

_CUT = (ice.StringType, ice.BinaryType, ice.FixedType)
"""Types whose bounds are truncated, so that they are not values of the column."""


class Statistic(NamedTuple):
    column: str | None
    """None for the table."""
    size: float | None = None
    distinct: float | None = None
    nulls: float | None = None
    rows: float | None = None
    low: str | None = None
    high: str | None = None


def statistics_of(inside: Inside) -> list[Statistic]:
    """Returns one statistic for each column, and one for the table."""
    schema = inside.table.handle.schema()
    known, rows = Statistics(schema), 0
    for file in files_in(inside, current_manifests(inside), deleted=False):
        if file.content == 0:
            known.add(file)
            rows += file.get("record_count")
        elif file.content == 1:
            rows -= file.get("record_count")
    distinct = distinct_counts(inside.metadata)
    columns = [_of(f.name, known.columns.get(f.field_id), distinct.get(f.field_id)) for f in schema.fields]
    return [*columns, Statistic(None, rows=float(max(rows, 0)))]


def _of(name: str, column: ColumnStatistics | None, distinct: float | None) -> Statistic:
    if column is None:
        return Statistic(name, distinct=distinct)
    values, nulls, size = (column.sums[s] for s in ("value_counts", "null_value_counts", "column_sizes"))
    share = None if not values or nulls is None else nulls / values
    shown = None if isinstance(column.kind, _CUT) else column
    return Statistic(
        name,
        size=None if size is None else float(size),
        distinct=distinct,
        nulls=share,
        low=None if shown is None else printed(column.kind, shown.low),
        high=None if shown is None else printed(column.kind, shown.high),
    )
