"""Converts files that pyiceberg's reader cannot read to temporary Parquet files: Avro files, and files with variants.

DataFusion reads the rows of Avro files. Field ids are only in the schema of the file's header, so they are assigned to
columns by position, not by name. Of a file with variants only the requested columns are copied, and variants become
JSON strings. The Parquet file is deleted after it has been read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata

from pinakes.core.arrays.conform import compact, mask_of
from pinakes.core.errors import NotSupportedError
from pinakes.core.types.variant import VariantType, as_json
from pinakes.engine.iceberg.scan.avro import read_avro_aside
from pinakes.providers.iceberg.table_io import TableIO

_FIELD_ID = "PARQUET:field_id"
_NO_COLUMN = 2147480000
"""The field id of a placeholder column that carries the row count when no column is read."""


@contextmanager
def readable_file(
    io: FileIO, file: DataFile, metadata: TableMetadata, wanted: Schema
) -> Iterator[tuple[FileIO, DataFile]]:
    """Yields a data file that pyiceberg can read, and the FileIO to read it with."""
    variants = any(isinstance(t, VariantType) for schema in metadata.schemas for t in _types(schema.as_struct()))
    if file.file_format != FileFormat.AVRO and not variants:
        yield io, file
        return
    if variants and file.file_format != FileFormat.PARQUET:
        raise NotSupportedError(f"columns of variants are read of Parquet only; this is a file of {file.file_format}")
    with tempfile.NamedTemporaryFile(prefix="pinakes-", suffix=".parquet") as copy:
        if variants:
            _copy_with_texts(io, file.file_path, {f.field_id: f for f in wanted.fields}, copy)
        else:
            pq.write_table(avro_rows(io, file.file_path), copy, compression="none")
        copy.flush()
        read = DataFile.from_args(
            content=file.content,
            file_path=copy.name,
            file_format=FileFormat.PARQUET,
            partition=file.partition,
            record_count=file.record_count,
            file_size_in_bytes=copy.tell(),
        )
        read.spec_id = file.spec_id
        yield TableIO({}), read


def with_texts(schema: Schema) -> Schema:
    """Returns the schema with strings in place of variants, as in the temporary files."""
    fields = [
        f.model_copy(update={"field_type": ice.StringType()}) if isinstance(f.field_type, VariantType) else f
        for f in schema.fields
    ]
    return Schema(*fields, schema_id=schema.schema_id)


def _types(t: ice.IcebergType) -> Iterator[ice.IcebergType]:
    yield t
    match t:
        case ice.StructType():
            for field in t.fields:
                yield from _types(field.field_type)
        case ice.ListType():
            yield from _types(t.element_type)
        case ice.MapType():
            yield from _types(t.key_type)
            yield from _types(t.value_type)


def _copy_with_texts(io: FileIO, location: str, wanted: dict[int, ice.NestedField], copy: Any) -> None:
    """Copies the requested columns, one row group at a time."""
    for field in wanted.values():
        if not isinstance(field.field_type, VariantType) and any(
            isinstance(t, VariantType) for t in _types(field.field_type)
        ):
            raise NotSupportedError(f"column {field.name} has variants within it, which are not read. Leave it out")
    with io.new_input(location).open() as stream, pq.ParquetFile(stream) as parquet:
        stored = parquet.schema_arrow
        found = [f for f in stored if _id_of(f) in wanted]
        fields = [pa.field(f.name, pa.string(), metadata=f.metadata) if _is_variant(f, wanted) else f for f in found]
        fields = fields or [_field("$pinakes", pa.bool_(), _NO_COLUMN)]
        with pq.ParquetWriter(copy, pa.schema(fields), compression="none") as writer:
            for group in range(parquet.num_row_groups):
                rows = parquet.read_row_group(group, columns=[f.name for f in found]).combine_chunks()
                columns = [
                    as_json(column.combine_chunks(), f.name) if _is_variant(f, wanted) else column
                    for f, column in zip(found, (rows.column(f.name) for f in found), strict=True)
                ]
                columns = columns or [pa.nulls(parquet.metadata.row_group(group).num_rows, pa.bool_())]
                writer.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)))


def _is_variant(field: pa.Field, wanted: dict[int, ice.NestedField]) -> bool:
    return isinstance(wanted[_id_of(field)].field_type, VariantType)


def _id_of(field: pa.Field) -> int:
    return int((field.metadata or {}).get(_FIELD_ID.encode(), -1))


def avro_rows(io: FileIO, location: str) -> pa.Table:
    """Reads the rows of an Avro file, with field ids in Parquet's form."""
    rows, schema = read_avro_aside(io, location)
    types = _Types()
    arrays = [column.combine_chunks() for column in rows.columns]
    columns = [types.column(field, array) for field, array in zip(schema["fields"], arrays, strict=True)]
    return pa.Table.from_arrays([array for _, array in columns], schema=pa.schema([field for field, _ in columns]))


class _Types:
    """The named types of one Avro file, which its schema may refer to."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}

    def column(self, field: dict[str, Any], array: pa.Array) -> tuple[pa.Field, pa.Array]:
        found = self._array(field["type"], array)
        return _field(field["name"], found.type, field.get("field-id")), found

    def _array(self, kind: Any, array: pa.Array) -> pa.Array:
        kind = self._plain(kind)
        if not is_.is_nested(array.type):
            return _plain_array(kind, array)
        match kind["type"]:
            case "record":
                return self._record(kind, array)
            case "array" if kind.get("logicalType") == "map":
                return self._pairs(kind, array)
            case "array":
                return self._list(kind, array)
            case "map":
                return self._map(kind, array)
        raise ValueError(f"an Avro type {kind['type']!r} is not known in data files")

    def _plain(self, kind: Any) -> Any:
        """Returns the type without NULL, with names resolved."""
        if isinstance(kind, list):
            kind = next(k for k in kind if k != "null")
        if isinstance(kind, str):
            return self._named.get(kind, kind)
        while isinstance(kind["type"], dict):  # {"type": {"type": "array", …}}
            kind = kind["type"]
        if "name" in kind:
            self._named[kind["name"]] = kind
        return kind

    def _record(self, kind: dict[str, Any], array: pa.Array) -> pa.Array:
        members = [self.column(f, m) for f, m in zip(kind["fields"], compact(array).flatten(), strict=True)]
        return pa.StructArray.from_arrays([m for _, m in members], fields=[f for f, _ in members], mask=mask_of(array))

    def _list(self, kind: dict[str, Any], array: pa.Array) -> pa.Array:
        array = compact(array)
        values = self._array(kind["items"], array.values)
        t = pa.list_(_field("element", values.type, kind.get("element-id")))
        return pa.ListArray.from_arrays(array.offsets, values, type=t, mask=mask_of(array))

    def _map(self, kind: dict[str, Any], array: pa.Array) -> pa.Array:
        array = compact(array)
        return self._of_pairs(array, array.keys, self._array(kind["values"], array.items), kind)

    def _pairs(self, kind: dict[str, Any], array: pa.Array) -> pa.Array:
        """Converts an array of records to a map: Avro maps support only string keys."""
        array, entry = compact(array), self._plain(kind["items"])
        keys, items = (self._array(f["type"], m) for f, m in zip(entry["fields"], array.values.flatten(), strict=True))
        ids = {f"{f['name']}-id": f.get("field-id") for f in entry["fields"]}
        return self._of_pairs(array, keys, items, ids)

    @staticmethod
    def _of_pairs(array: pa.Array, keys: pa.Array, items: pa.Array, ids: dict[str, Any]) -> pa.Array:
        key = _field("key", keys.type, ids.get("key-id")).with_nullable(False)
        t = pa.map_(key, _field("value", items.type, ids.get("value-id")))
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=t, mask=mask_of(array))


def _plain_array(kind: Any, array: pa.Array) -> pa.Array:
    """Converts a primitive array. Iceberg marks time zones with `adjust-to-utc`; a UUID is stored as bytes."""
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    if is_.is_timestamp(array.type) and isinstance(kind, dict):
        zone = None if kind.get("adjust-to-utc") is False or kind["logicalType"].startswith("local-") else "UTC"
        return array.cast(pa.timestamp(array.type.unit, zone))
    views = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    return array.cast(views.get(array.type, array.type))


def _field(name: str, t: pa.DataType, field_id: int | None) -> pa.Field:
    return pa.field(name, t, metadata=None if field_id is None else {_FIELD_ID: str(field_id)})
