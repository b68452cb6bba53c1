"""Matches the columns of a file to those of the table by field id, independent of renames.

DataFusion matches columns by name. Most tables never reused a column name, and their files need no check
(`is_uniform`). For all others the footer of each file gives the names (`shape_of`); files with the same names share one
scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.name_mapping import MappedField, NameMapping

from pinakes.core.types.iceberg_arrow import arrow_type_of

_FIELD_ID = b"PARQUET:field_id"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Parquet files store other names in an Avro-compatible form: `b c` as `b_x20c`."""
NAME_MAPPING = "schema.name-mapping.default"


@dataclass(frozen=True, slots=True)
class Shape:
    """The name of each table column in a file; None for a column that the file lacks."""

    names: tuple[str | None, ...]

    @property
    def nbytes(self) -> int:
        return 200 + 50 * len(self.names)


@dataclass(frozen=True, slots=True)
class NoShape:
    """A file that DataFusion would misread: pyiceberg reads it."""

    why: str
    nbytes: int = 200


def named_alike(schema: Schema) -> Shape:
    """Returns the shape of a file with the table's current names; missing columns are NULL."""
    return Shape(tuple(field.name for field in schema.fields))


def is_uniform(metadata: TableMetadata, schema: Schema) -> bool:
    """Returns whether every file of the table has its columns under their current names."""
    ids = {s.schema_id for s in metadata.schemas}
    if NAME_MAPPING in metadata.properties or ids != set(range(len(ids))):
        return False  # files without field ids, or of a removed schema
    names = {field.field_id: (field.name, _nested(field)) for field in schema.fields}
    taken = {field.name: field.field_id for field in schema.fields}
    fields = [field for s in metadata.schemas for field in s.fields]
    every = (schema, *metadata.schemas)  # the name of a dropped column may be in use again
    return all(_PLAIN_NAME.fullmatch(name) for s in every for name in _all_names(s.as_struct())) and all(
        names.get(f.field_id, (f.name, _nested(f))) == (f.name, _nested(f))
        and taken.get(f.name, f.field_id) == f.field_id
        for f in fields
    )


def _nested(field: ice.NestedField) -> str:
    """Returns the outline of a nested type; empty for a primitive one."""
    return "" if field.field_type.is_primitive else _outline(field.field_type)


def _outline(t: ice.IcebergType) -> str:
    match t:
        case ice.StructType():
            return f"struct<{', '.join(f'{f.field_id}: {f.name}: {_outline(f.field_type)}' for f in t.fields)}>"
        case ice.ListType():
            return f"list<{_outline(t.element_type)}>"
        case ice.MapType():
            return f"map<{_outline(t.key_type)}, {_outline(t.value_type)}>"
    return str(t)


def _all_names(t: ice.IcebergType) -> Iterator[str]:
    """Yields the names of all fields of a type, at every depth. Names may contain dots, so they are not joined."""
    match t:
        case ice.StructType():
            for field in t.fields:
                yield field.name
                yield from _all_names(field.field_type)
        case ice.ListType():
            yield from _all_names(t.element_type)
        case ice.MapType():
            yield from _all_names(t.key_type)
            yield from _all_names(t.value_type)


# --- by the footer -----------------------------------------------------------------------------------------------


def shape_of(stored: pa.Schema, schema: Schema, mapping: NameMapping | None) -> Shape | NoShape:
    """Returns the names of the table's columns in a file with this schema.

    Columns of a file without field ids are matched by the table's name mapping.
    """
    if mapping is not None and not any(_id_of(field) for field in stored):
        stored = pa.schema([f for f in (_identified(f, mapping.root) for f in stored) if _id_of(f) is not None])
    by_id: dict[int, pa.Field] = {}
    for field in stored:
        number = _id_of(field)
        if number is None or number in by_id:
            return NoShape("columns without ids")
        by_id[number] = field
    found = [by_id.get(field.field_id) for field in schema.fields]
    fits = all(f is None or _fits(f.type, c.field_type) for f, c in zip(found, schema.fields, strict=True))
    unique = len(set(stored.names)) == len(stored.names)
    return (
        Shape(tuple(None if f is None else f.name for f in found))
        if fits and unique
        else NoShape("columns of other types")
    )


def _identified(field: pa.Field, mapped: list[MappedField]) -> pa.Field:
    """Returns the field with the id that the mapping gives its name, at every depth."""
    found = next((m for m in mapped if field.name in m.names), None)
    if found is None or found.field_id is None:
        return field
    typed = field.with_type(_type_with_ids(field.type, found.fields))
    return typed.with_metadata({_FIELD_ID: str(found.field_id).encode()})


def _type_with_ids(t: pa.DataType, mapped: list[MappedField]) -> pa.DataType:
    if is_.is_struct(t):
        return pa.struct([_identified(f, mapped) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(
            _identified(t.key_field.with_name("key"), mapped), _identified(t.item_field.with_name("value"), mapped)
        )
    return pa.list_(_identified(t.value_field.with_name("element"), mapped)) if is_.is_list(t) else t


def _id_of(field: pa.Field) -> int | None:
    written = (field.metadata or {}).get(_FIELD_ID)
    return int(written) if written is not None else None


def _fits(stored: pa.DataType, wanted: ice.IcebergType) -> bool:
    """Returns whether DataFusion reads the stored type as the requested one, as Iceberg's type promotion requires."""
    match wanted:
        case ice.StructType():
            return bool(is_.is_struct(stored)) and _same_fields(list(stored.fields), list(wanted.fields))
        case ice.ListType():
            return bool(is_.is_list(stored)) and _same_member(stored.value_field, wanted.element_field)
        case ice.MapType():
            return bool(is_.is_map(stored)) and _same_map(stored, wanted)
        case ice.UUIDType():
            return isinstance(stored, pa.UuidType) or stored == pa.binary(16)
        case ice.DecimalType():
            return (
                bool(is_.is_decimal(stored)) and stored.scale == wanted.scale and stored.precision <= wanted.precision
            )
        case ice.StringType():
            return stored in (pa.string(), pa.large_string(), pa.string_view())
        case ice.BinaryType():
            return stored in (pa.binary(), pa.large_binary(), pa.binary_view())
        case ice.LongType():
            return stored in (pa.int32(), pa.int64())
        case ice.DoubleType():
            return stored in (pa.float32(), pa.float64())
    shown = arrow_type_of(wanted)
    return bool(stored == shown) or _same_times(stored, shown)


def _same_times(stored: pa.DataType, shown: pa.DataType) -> bool:
    both = is_.is_timestamp(stored) and is_.is_timestamp(shown)
    return bool(both) and stored.unit == shown.unit and (stored.tz is None) == (shown.tz is None)


def _same_map(stored: pa.DataType, wanted: ice.MapType) -> bool:
    return _same_member(stored.key_field, wanted.key_field) and _same_member(stored.item_field, wanted.value_field)


def _same_fields(stored: list[pa.Field], wanted: list[ice.NestedField]) -> bool:
    return [f.name for f in stored] == [f.name for f in wanted] and all(
        _same_member(a, b) for a, b in zip(stored, wanted, strict=True)
    )


def _same_member(stored: pa.Field, wanted: ice.NestedField) -> bool:
    return _id_of(stored) == wanted.field_id and _fits(stored.type, wanted.field_type)
