"""Rows split by partition: each part with the key under which its files are known.

pyiceberg's own split compares key values, so a NaN belongs nowhere and its row would be lost; it also knows no uuid as
a key and no two keys of one column. Here rows are grouped by the stored form of their keys, whatever it is.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import bin_pack_arrow_table, pyarrow_to_schema, write_file
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey
from pyiceberg.schema import Schema
from pyiceberg.table import TableProperties, WriteTask
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, StructType
from pyiceberg.utils.properties import property_as_int

_ROW = "row"


def partitioned_files(
    metadata: TableMetadata, table: pa.Table, io: FileIO, write_id: uuid.UUID, counter: Iterator[int]
) -> Iterator[DataFile]:
    """Write the rows to new files, each of one partition."""
    schema = pyarrow_to_schema(
        table.schema, name_mapping=metadata.schema().name_mapping, format_version=metadata.format_version
    )
    size = property_as_int(
        metadata.properties,
        TableProperties.WRITE_TARGET_FILE_SIZE_BYTES,
        TableProperties.WRITE_TARGET_FILE_SIZE_BYTES_DEFAULT,
    )
    assert size is not None
    tasks = (
        WriteTask(write_id, next(counter), schema, batches, partition_key=key)
        for key, part in split(table, metadata)
        for batches in bin_pack_arrow_table(part, size)
    )
    return write_file(io, metadata, tasks)


def split(table: pa.Table, metadata: TableMetadata) -> Iterator[tuple[PartitionKey, pa.Table]]:
    """The rows of each partition with its key."""
    table = table.combine_chunks()
    spec, schema = metadata.spec(), metadata.schema()
    keys = [_stored(_transformed(table, field, schema)) for field in spec.fields]
    for rows in _groups(keys, table.num_rows):
        first = rows[0].as_py()
        values = [PartitionFieldValue(f, k[first].as_py()) for f, k in zip(spec.fields, keys, strict=True)]
        yield _Key(values, spec, schema), table.take(rows)


@dataclass(frozen=True)
class _Key(PartitionKey):
    """A key whose values are in their stored form already."""

    @cached_property
    def partition(self) -> Record:
        return Record(*(v.value for v in self.field_values))


def _groups(keys: Sequence[pa.Array], size: int) -> Iterator[pa.Array]:
    """The numbers of the rows that have the same keys."""
    names = [str(i) for i in range(len(keys))]
    numbered = pa.table([*map(_countable, keys), pa.array(range(size), pa.int64())], names=[*names, _ROW])
    groups = numbered.group_by(names, use_threads=False).aggregate([(_ROW, "list")])
    return (rows.values for rows in itertools.chain.from_iterable(groups.column(f"{_ROW}_list").chunks))


def _transformed(table: pa.Table, field: PartitionField, schema: Schema) -> pa.Array:
    path = field_path(schema.fields, field.source_id)
    column = table.column(path[0].name).combine_chunks()
    for inner in path[1:]:
        column = pc.struct_field(column, inner.name)
    if isinstance(column.type, pa.UuidType):  # the transforms know the 16 bytes alone
        column = column.storage
    return field.transform.pyarrow_transform(path[-1].field_type)(column)


def field_path(fields: Sequence[NestedField], wanted: int) -> tuple[NestedField, ...]:
    """The fields that lead to the one with this id; names may have dots in them, so ids decide."""
    for field in fields:
        if field.field_id == wanted:
            return (field,)
        if isinstance(field.field_type, StructType):
            below = field_path(field.field_type.fields, wanted)
            if below:
                return (field, *below)
    return ()


def _stored(array: pa.Array) -> pa.Array:
    """Times as counts, as Iceberg keeps them in a key."""
    kind = array.type
    if is_.is_date32(kind):
        return array.cast(pa.int32())
    if is_.is_timestamp(kind) or is_.is_time64(kind):
        return array.cast(pa.int64())
    return array.storage if isinstance(kind, pa.UuidType) else array


def _countable(array: pa.Array) -> pa.Array:
    """Floats as their bits: a NaN equals no other value, and not even itself."""
    if is_.is_float32(array.type):
        return array.view(pa.int32())
    return array.view(pa.int64()) if is_.is_float64(array.type) else array
