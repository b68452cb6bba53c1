"""Parquet files with nanosecond timestamps: their bounds, which pyiceberg can't read without pandas.

pyiceberg asks Arrow for the smallest and greatest value as a datetime, which has no nanoseconds. Here such a column is
only counted by pyiceberg, and its bounds are the plain numbers of the file's footer.
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


class NanosecondParquetModel(ParquetFormatModel):
    """pyiceberg's Parquet, with a writer that knows nanoseconds."""

    def create_writer(
        self, output_file: OutputFile, file_schema: Schema, properties: Properties
    ) -> ParquetFormatWriter:
        plan = compute_statistics_plan(file_schema, properties)
        bounded = {i: column for i, column in plan.items() if _has_nanosecond_bounds(column)}
        if not bounded:
            return super().create_writer(output_file, file_schema, properties)
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
        paths = {i: path for path, i in parquet_path_to_id_mapping(self._file_schema).items()}
        for field_id, column in self._bounded.items():
            bounds = _bounds(self._writer.writer.metadata, paths[field_id], column)
            if bounds is not None:
                found.column_aggregates[field_id] = bounds
        return found


def _bounds(footer: Any, path: str, column: StatisticsCollector) -> StatsAggregator | None:
    """The bounds over all row groups, or None when one of them does not tell."""
    bounds = StatsAggregator(column.iceberg_type, "INT64")
    for group in (footer.row_group(i) for i in range(footer.num_row_groups)):
        chunk = next(c for c in (group.column(i) for i in range(group.num_columns)) if c.path_in_schema == path)
        if not chunk.is_stats_set:
            return None
        if chunk.statistics.has_min_max:
            bounds.update_min(chunk.statistics.min_raw)
            bounds.update_max(chunk.statistics.max_raw)
    return bounds
