"""Writes Parquet files with bounds that pyiceberg omits or gets wrong.

For nanosecond timestamps, pyiceberg reads the minimum and maximum from Arrow as a datetime, which has no nanoseconds.
Here pyiceberg only counts such a column, and its bounds are the raw values of the file's footer. For a column without
statistics in one row group, as with long strings, pyiceberg writes the bounds of the other row groups. Here such a
column has no bounds: otherwise readers would prune files that contain matching rows.
"""

from __future__ import annotations

from typing import Any

from pyiceberg.io import OutputFile
from pyiceberg.io.fileformat import DataFileStatistics
from pyiceberg.io.pyarrow import (
    MetricModeTypes,
    ParquetFormatModel,
    ParquetFormatWriter,
    StatisticsCollector,
    StatsAggregator,
    compute_statistics_plan,
    parquet_path_to_id_mapping,
)
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties
from pyiceberg.typedef import Properties
from pyiceberg.types import TimestampNanoType, TimestamptzNanoType


class ParquetModel(ParquetFormatModel):
    """pyiceberg's Parquet format, with a writer whose bounds are correct."""

    def create_writer(
        self, output_file: OutputFile, file_schema: Schema, properties: Properties
    ) -> ParquetFormatWriter:
        plan = compute_statistics_plan(file_schema, properties)
        bounded = {i: column for i, column in plan.items() if _has_nanosecond_bounds(column)}
        prefix = TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX
        counted = {f"{prefix}.{column.column_name}": "counts" for column in bounded.values()}
        return _Writer(output_file, file_schema, {**properties, **counted}, bounded)


def _has_nanosecond_bounds(column: StatisticsCollector) -> bool:
    is_nanoseconds = isinstance(column.iceberg_type, TimestampNanoType | TimestamptzNanoType)
    return is_nanoseconds and column.mode.type == MetricModeTypes.FULL


class _Writer(ParquetFormatWriter):
    def __init__(
        self,
        output_file: OutputFile,
        file_schema: Schema,
        properties: Properties,
        bounded: dict[int, StatisticsCollector],
    ) -> None:
        super().__init__(output_file, file_schema, properties)
        self._bounded = bounded

    def close(self) -> DataFileStatistics:
        if self._result is not None:
            return self._result
        found = super().close()
        assert self._writer is not None
        footer, ids = self._writer.writer.metadata, parquet_path_to_id_mapping(self._file_schema)
        for path in _without_statistics(footer):
            found.column_aggregates.pop(ids[path], None)
        paths = {i: path for path, i in ids.items()}
        for field_id, column in self._bounded.items():
            bounds = _bounds(footer, paths[field_id], column)
            if bounds is not None:
                found.column_aggregates[field_id] = bounds
        return found


def _without_statistics(footer: Any) -> set[str]:
    """Returns the columns that lack statistics in some row group, as with long strings: pyiceberg would use the bounds
    of the other row groups for the file.
    """
    chunks = [footer.row_group(i).column(j) for i in range(footer.num_row_groups) for j in range(footer.num_columns)]
    return {c.path_in_schema for c in chunks if c.num_values and not _has_statistics(c)}


def _has_statistics(chunk: Any) -> bool:
    found = chunk.statistics if chunk.is_stats_set else None
    return found is not None and (found.has_min_max or (found.has_null_count and found.null_count == chunk.num_values))


def _bounds(footer: Any, path: str, column: StatisticsCollector) -> StatsAggregator | None:
    """Returns the bounds over all row groups, or None if one has no statistics."""
    bounds = StatsAggregator(column.iceberg_type, "INT64")
    for group in (footer.row_group(i) for i in range(footer.num_row_groups)):
        chunk = next(c for c in (group.column(i) for i in range(group.num_columns)) if c.path_in_schema == path)
        if not chunk.is_stats_set:
            return None
        if chunk.statistics.has_min_max:
            bounds.update_min(chunk.statistics.min_raw)
            bounds.update_max(chunk.statistics.max_raw)
    return bounds
