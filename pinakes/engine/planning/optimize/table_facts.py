"""Sizes from the metadata of a table: its exact number of rows, and the ranges of its keys.

An integer column has at most as many distinct values as its range has integers, and at most as many as the table has
rows. For keys, which are dense, that is a good estimate. For an analyzed table the number of distinct values is known
(`core/iceberg_metadata.py`).
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.types import DateType, DecimalType, IntegerType, LongType, NestedField

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.iceberg_metadata import distinct_counts
from pinakes.engine.iceberg.scan.bounds import kind_of
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles, files_of

_KEYS = (IntegerType, LongType, DateType)


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the values of a column lie: from `least` to `greatest`, `distinct` of them at most."""

    least: int
    greatest: int
    distinct: float

    @property
    def width(self) -> float:
        return self.greatest - self.least + 1.0


class TableFacts:
    def __init__(self, table: IcebergTable, cache: ManifestCache) -> None:
        self._files = files_of(table, cache)
        self._fields = {field.name: field for field in table.handle.schema().fields}
        metadata = table.handle.metadata
        self.version = f"{metadata.table_uuid} {metadata.current_snapshot_id} {table.handle.schema().schema_id}"
        if metadata.statistics:
            self.version += f" {metadata.statistics[-1].statistics_path}"
        """What the rows depend on, and what is known of them."""
        self.rows = self._files.rows
        self._distinct = distinct_counts(metadata)

    def distinct(self, column: str) -> float | None:
        """The number of distinct values of a column, if the table was analyzed."""
        field = self._fields.get(column)
        counted = None if field is None else self._distinct.get(field.field_id)
        return None if counted is None else max(1.0, min(counted, self.rows))

    def spread(self, column: str) -> Spread | None:
        known = _SPREADS.setdefault(self._files, {})
        if column not in known:
            field = self._fields.get(column)
            known[column] = None if field is None else self._bounds(field)
        return known[column]

    def largest(self, column: str) -> int | None:
        """The largest magnitude of a column of integers or decimals, rounded up; None if some file does not tell."""
        known = _LARGEST.setdefault(self._files, {})
        if column not in known:
            field = self._fields.get(column)
            numeric = field is not None and isinstance(field.field_type, IntegerType | LongType | DecimalType)
            known[column] = self._magnitude(field) if numeric and field is not None else None
        return known[column]

    def _magnitude(self, field: NestedField) -> int | None:
        arrow = kind_of(field.field_type)
        range_ = None if arrow is None else self._files.bounds(field.field_id, arrow)
        if range_ is None or not len(range_.least) or range_.least.null_count or range_.greatest.null_count:
            return None
        least, greatest = pc.min(range_.least).as_py(), pc.max(range_.greatest).as_py()
        largest: int = math.ceil(max(abs(least), abs(greatest)))
        return largest

    def _bounds(self, field: NestedField) -> Spread | None:
        if not isinstance(field.field_type, _KEYS):
            return None
        ranges = self._files.ranges(field.field_id, field.field_type)
        if not ranges or ranges[0].least.null_count or ranges[0].greatest.null_count:
            return None
        least, greatest = pc.min(_numbers(ranges[0].least)), pc.max(_numbers(ranges[0].greatest))
        return spread_of(least.as_py(), greatest.as_py(), self.rows)


_LARGEST: weakref.WeakKeyDictionary[SnapshotFiles, dict[str, int | None]] = weakref.WeakKeyDictionary()
_SPREADS: weakref.WeakKeyDictionary[SnapshotFiles, dict[str, Spread | None]] = weakref.WeakKeyDictionary()


def spread_of(least: int | None, greatest: int | None, rows: int) -> Spread | None:
    if least is None or greatest is None or greatest < least:
        return None
    return Spread(least, greatest, max(1.0, min(greatest - least + 1.0, rows)))


def _numbers(values: pa.Array) -> pa.Array:
    """Days for dates."""
    return values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
