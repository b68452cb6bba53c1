"""Column statistics from manifests, aggregated over files: for system.iceberg.partitions and for SHOW STATS.

If a file lacks a statistic, the aggregate is unknown: a sum or a bound without it would be wrong. SHOW STATS shows the
statistics of files: rows deleted by position are subtracted from the number of rows, but not from column statistics;
the number of rows that an equality delete removes is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyiceberg import types as ice
from pyiceberg.schema import Schema

from pinakes.core.iceberg_metadata import distinct_counts
from pinakes.system_tables.iceberg_metadata.declaration import Inside
from pinakes.system_tables.iceberg_metadata.manifests import File, current_manifests, files_in
from pinakes.system_tables.iceberg_metadata.values import bound_of, format_value

_SUMS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts")


@dataclass(slots=True)
class ColumnStatistics:
    """Statistics of one column. A sum or the bounds are None if some file lacks them."""

    kind: ice.IcebergType
    sums: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(_SUMS, 0))
    low: Any = None
    high: Any = None
    is_bounded: bool = True

    def add(self, number: int, metrics: dict[str, dict[int, Any]]) -> None:
        """Adds a file with its column metrics."""
        for name in _SUMS:
            one, known = metrics[name].get(number), self.sums[name]
            self.sums[name] = None if one is None or known is None else known + one
        if _has_values(number, metrics):
            self._widen(metrics["lower_bounds"].get(number), metrics["upper_bounds"].get(number))

    def _widen(self, lower: bytes | None, upper: bytes | None) -> None:
        low = None if lower is None else bound_of(self.kind, lower)
        high = None if upper is None else bound_of(self.kind, upper)
        if low is None or high is None or not self.is_bounded:
            self.low, self.high, self.is_bounded = None, None, False
            return
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)


def _has_values(number: int, metrics: dict[str, dict[int, Any]]) -> bool:
    """Whether a file may have values other than NULL and NaN, which bounds do not cover."""
    values, nulls = metrics["value_counts"].get(number), metrics["null_value_counts"].get(number)
    if values is None or nulls is None:
        return True
    return bool(values > nulls + (metrics["nan_value_counts"].get(number) or 0))


class Statistics:
    """Statistics of the primitive columns of a table."""

    def __init__(self, schema: Schema) -> None:
        self.columns = {f.field_id: ColumnStatistics(f.field_type) for f in plain_columns(schema)}

    def add(self, file: File) -> None:
        metrics = {name: dict(file.pairs(name) or ()) for name in (*_SUMS, "lower_bounds", "upper_bounds")}
        for number, statistics in self.columns.items():
            statistics.add(number, metrics)


def plain_columns(schema: Schema) -> list[ice.NestedField]:
    return [f for f in schema.fields if isinstance(f.field_type, ice.PrimitiveType)]


# --- statistics of a table ---------------------------------------------------------------------------------------


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
    columns = [
        _column_statistic(f.name, known.columns.get(f.field_id), distinct.get(f.field_id)) for f in schema.fields
    ]
    return [*columns, Statistic(None, rows=float(max(rows, 0)))]


def _column_statistic(name: str, column: ColumnStatistics | None, distinct: float | None) -> Statistic:
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
        low=None if shown is None else format_value(column.kind, shown.low),
        high=None if shown is None else format_value(column.kind, shown.high),
    )
