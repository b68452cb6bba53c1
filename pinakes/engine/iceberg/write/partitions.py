"""Splits rows by partition, each part with its partition key.

pyiceberg's own split compares key values, so rows with NaN would be lost; it also supports neither UUID keys nor two
keys of one column. Here rows are grouped by the stored form of their keys.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import Transform
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, StructType

_ROW = "row"


def split(table: pa.Table, metadata: TableMetadata) -> Iterator[tuple[PartitionKey, pa.Table]]:
    """Yields the rows of each partition with its key, in order of first appearance. Columns are matched by position."""
    table = table.combine_chunks()
    spec, schema = metadata.spec(), metadata.schema()
    keys = [key_column(table, f.source_id, f.transform, schema) for f in spec.fields]
    for rows in _groups(keys, table.num_rows):
        first = rows[0].as_py()
        values = [PartitionFieldValue(f, k[first].as_py()) for f, k in zip(spec.fields, keys, strict=True)]
        part = table if len(rows) == table.num_rows else table.take(rows)
        yield _Key(values, spec, schema), part


def key_column(table: pa.Table, source: int, transform: Transform[Any, Any], schema: Schema) -> pa.Array:
    """Returns a transform of a column in the stored form of keys. The table has at most one chunk per column."""
    path = field_path(schema.fields, source)
    column = _one(table.column(schema.fields.index(path[0])))
    for outer, inner in itertools.pairwise(path):
        assert isinstance(outer.field_type, StructType)
        column = pc.struct_field(column, [outer.field_type.fields.index(inner)])
    if isinstance(column.type, pa.UuidType):  # transforms support only the 16 bytes
        column = column.storage
    return _stored(transform.pyarrow_transform(path[-1].field_type)(column))


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


@dataclass(frozen=True)
class _Key(PartitionKey):
    """A key whose values are already in stored form."""

    @cached_property
    def partition(self) -> Record:
        return Record(*(v.value for v in self.field_values))


def identity(key: PartitionKey) -> tuple[str, ...]:
    """Returns a hashable identity of a key: NaN equals NaN, and 0.0 differs from -0.0."""
    return tuple(repr(v.value) for v in key.field_values)


def _groups(keys: Sequence[pa.Array], size: int) -> Iterator[pa.Array]:
    """Yields the row numbers of each group of equal keys."""
    names = [str(i) for i in range(len(keys))]
    numbered = pa.table([*map(countable, keys), pa.arange(0, size)], names=[*names, _ROW])
    groups = numbered.group_by(names, use_threads=False).aggregate([(_ROW, "list")])
    return (rows.values for rows in itertools.chain.from_iterable(groups.column(f"{_ROW}_list").chunks))


def field_path(fields: Sequence[NestedField], wanted: int) -> tuple[NestedField, ...]:
    """Returns the path of fields to the one with this id. Ids are used because names may contain dots."""
    for field in fields:
        if field.field_id == wanted:
            return (field,)
        if isinstance(field.field_type, StructType):
            below = field_path(field.field_type.fields, wanted)
            if below:
                return (field, *below)
    return ()


def _stored(array: pa.Array) -> pa.Array:
    """Returns times as counts, as Iceberg stores them in keys."""
    kind = array.type
    if is_.is_date32(kind):
        return array.cast(pa.int32())
    if is_.is_timestamp(kind) or is_.is_time64(kind):
        return array.cast(pa.int64())
    return array.storage if isinstance(kind, pa.UuidType) else array


def countable(array: pa.Array) -> pa.Array:
    """Returns floating-point numbers as bits, since NaN does not equal itself."""
    if is_.is_float32(array.type):
        return array.view(pa.int32())
    return array.view(pa.int64()) if is_.is_float64(array.type) else array
