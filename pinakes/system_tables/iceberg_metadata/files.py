"""The columns of a file of an Iceberg table: in system.iceberg.files and, with its status, in entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from pinakes.core.output.value_format import as_json
from pinakes.system_tables.base import NUMBER, TEXT, Column
from pinakes.system_tables.iceberg_metadata.manifests import File
from pinakes.system_tables.iceberg_metadata.values import readable_bound

INT = pa.int32()
NUMBERS_BY_FIELD = pa.map_(NUMBER, NUMBER)
TEXTS_BY_FIELD = pa.map_(NUMBER, TEXT)
"""Values by field id. It is an int in Iceberg, but DataFusion supports `m[6]` only for maps with bigint keys."""

_METRICS = {
    "column_sizes": "column_size",
    "value_counts": "value_count",
    "null_value_counts": "null_value_count",
    "nan_value_counts": "nan_value_count",
    "lower_bounds": "lower_bound",
    "upper_bounds": "upper_bound",
}
"""The column metrics of a manifest, and the name of each metric for a single column."""


def _get(name: str) -> Callable[[File], Any]:
    return lambda file: file.get(name)


def _pairs(name: str) -> Callable[[File], Any]:
    return lambda file: file.pairs(name)


def _bounds(name: str) -> Callable[[File], Any]:
    return lambda file: _readable(file, name)


def _readable(file: File, name: str) -> list[tuple[int, str]] | None:
    found = file.pairs(name)
    if found is None:
        return None
    types = file.of.types
    return [(number, readable_bound(types[number][1] if number in types else None, v)) for number, v in found]


def _metrics(file: File) -> str:
    """Returns all metrics of each column, by column name."""
    columns: dict[str, dict[str, object]] = {}
    for name, metric in _METRICS.items():
        for number, value in (_readable(file, name) if "bound" in name else file.pairs(name)) or ():
            called = file.of.types[number][0] if number in file.of.types else str(number)
            columns.setdefault(called, {})[metric] = value
    return as_json({name: columns[name] for name in sorted(columns)})


COLUMNS: tuple[Column[File], ...] = (
    Column("content", INT, "0: data, 1: position deletes, 2: equality deletes", lambda f: f.content),
    Column("file_path", TEXT, "Path of the file", _get("file_path")),
    Column("file_format", TEXT, "Format of the file: PARQUET, ORC, AVRO or PUFFIN", _get("file_format")),
    Column("spec_id", INT, "Id of the partition spec of the file", lambda f: f.of.manifest.spec_id),
    Column("partition", TEXT, "Partition of the file", lambda f: f.partition),
    Column("record_count", NUMBER, "Number of rows in the file", _get("record_count")),
    Column("file_size_in_bytes", NUMBER, "Size of the file in bytes", _get("file_size_in_bytes")),
    Column("column_sizes", NUMBERS_BY_FIELD, "Size of each column in bytes, by field id", _pairs("column_sizes")),
    Column(
        "value_counts",
        NUMBERS_BY_FIELD,
        "Number of values of each column, including NULL and NaN, by field id",
        _pairs("value_counts"),
    ),
    Column(
        "null_value_counts",
        NUMBERS_BY_FIELD,
        "Number of NULLs of each column, by field id",
        _pairs("null_value_counts"),
    ),
    Column(
        "nan_value_counts", NUMBERS_BY_FIELD, "Number of NaNs of each column, by field id", _pairs("nan_value_counts")
    ),
    Column(
        "lower_bounds",
        TEXTS_BY_FIELD,
        "Lower bound of each column, by field id; strings are truncated",
        _bounds("lower_bounds"),
    ),
    Column(
        "upper_bounds",
        TEXTS_BY_FIELD,
        "Upper bound of each column, by field id; strings are truncated",
        _bounds("upper_bounds"),
    ),
    Column(
        "key_metadata", pa.binary(), "Encryption key metadata; NULL if the file is not encrypted", _get("key_metadata")
    ),
    Column("split_offsets", pa.list_(NUMBER), "Offsets in bytes at which the file can be split", _get("split_offsets")),
    Column("equality_ids", pa.list_(INT), "Field ids that equality deletes compare", _get("equality_ids")),
    Column("sort_order_id", INT, "Id of the sort order of the rows; 0 for none", _get("sort_order_id")),
    Column("readable_metrics", TEXT, "Metrics of all columns by name, as JSON", _metrics),
    Column("first_row_id", NUMBER, "Id of the first row, in format version 3", lambda f: f.first_row_id),
    Column(
        "referenced_data_file",
        TEXT,
        "Data file that the deletes apply to, if there is only one",
        _get("referenced_data_file"),
    ),
    Column("content_offset", NUMBER, "Offset of a deletion vector in its file", _get("content_offset")),
    Column("content_size_in_bytes", NUMBER, "Size of a deletion vector in bytes", _get("content_size_in_bytes")),
)
