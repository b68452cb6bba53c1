"""What the tests of the writer share: tables without a catalog, and files of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.types import IcebergType, NestedField, PrimitiveType

from pinakes.engine.iceberg.write.files import FileWriter


def schema_of(*types: IcebergType, required: bool = False) -> Schema:
    """Columns c1, c2, … of these types."""
    return Schema(*(NestedField(i, f"c{i}", t, required=required) for i, t in enumerate(types, 1)))


def metadata_of(
    location: Path,
    schema: Schema,
    properties: Mapping[str, str] | None = None,
    spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
    order: SortOrder = UNSORTED_SORT_ORDER,
) -> TableMetadata:
    given = {"format-version": "2", **(properties or {})}
    return new_table_metadata(schema, spec, order, str(location), given)


def written(metadata: TableMetadata, batches: Iterable[pa.RecordBatch], *, ordered: bool = False) -> list[DataFile]:
    with FileWriter(metadata, PyArrowFileIO(), ordered=ordered) as writer:
        writer.write_all(batches)
        writer.keep()
    return writer.files


def footer(file: DataFile) -> pq.FileMetaData:
    return pq.read_metadata(file.file_path)


def rows_of(files: Iterable[DataFile]) -> list[tuple[object, ...]]:
    tables = (pq.read_table(f.file_path, partitioning=None) for f in files)
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def parquet_files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.parquet"))


def offsets(file: DataFile) -> list[int]:
    assert file.split_offsets is not None
    return file.split_offsets


def bound(kind: PrimitiveType, value: bytes) -> Any:
    """What a bound means."""
    return from_bytes(kind, value)


def duck(sql: str) -> list[Any]:
    """What DuckDB answers."""
    answer = duckdb.sql(sql)
    assert answer is not None
    return list(answer.fetchall())
