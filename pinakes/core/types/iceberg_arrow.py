"""Conversion between Iceberg and Arrow types, for queries, Parquet files and CREATE TABLE AS.

A table has two Arrow schemas. `arrow_schema_of` is the one that queries see; `stored_schema_of` is the one of its
Parquet files. They differ in one type: a `uuid` is 16 bytes in the file and text in a query. DataFusion 55 has no UUID
type: over binary(16), `u = '…'`, `u IN ('…')`, `CAST(u AS VARCHAR)` and INSERT of a text are planning errors, and over
Arrow's uuid extension max() loses the type and a filter fails in a dataset. Over text all of them work, and the order
is the same, since canonical lower-case text sorts as its bytes do. `core/arrays/conform.py` converts between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count

import pyarrow as pa
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.schema import Schema, assign_fresh_schema_ids

from pinakes.core.errors import InternalError, InvalidArgument, NotSupportedError
from pinakes.core.types.arrow_names import is_any_list, sql_name_of_arrow, unwrap_type
from pinakes.core.types.variant import VariantType

_FIELD_ID = b"PARQUET:field_id"

_ARROW: dict[type[ice.IcebergType], pa.DataType] = {
    ice.BooleanType: pa.bool_(),
    ice.IntegerType: pa.int32(),
    ice.LongType: pa.int64(),
    ice.FloatType: pa.float32(),
    ice.DoubleType: pa.float64(),
    ice.DateType: pa.date32(),
    ice.TimeType: pa.time64("us"),
    ice.TimestampType: pa.timestamp("us"),
    ice.TimestamptzType: pa.timestamp("us", tz="UTC"),
    ice.TimestampNanoType: pa.timestamp("ns"),
    ice.TimestamptzNanoType: pa.timestamp("ns", tz="UTC"),
    ice.StringType: pa.string(),
    ice.BinaryType: pa.binary(),
    ice.UnknownType: pa.null(),
    ice.GeometryType: pa.binary(),
    ice.GeographyType: pa.binary(),
    VariantType: pa.string(),
}

_ICEBERG: dict[pa.DataType, ice.IcebergType] = {
    pa.null(): ice.StringType(),  # SELECT NULL: text, as in PostgreSQL; version 2 has no type for it
    pa.bool_(): ice.BooleanType(),
    pa.int8(): ice.IntegerType(),
    pa.int16(): ice.IntegerType(),
    pa.int32(): ice.IntegerType(),
    pa.int64(): ice.LongType(),
    pa.uint8(): ice.IntegerType(),
    pa.uint16(): ice.IntegerType(),
    pa.uint32(): ice.LongType(),
    pa.uint64(): ice.DecimalType(20, 0),
    pa.float16(): ice.FloatType(),
    pa.float32(): ice.FloatType(),
    pa.float64(): ice.DoubleType(),
    pa.date32(): ice.DateType(),
    pa.date64(): ice.DateType(),
    pa.string(): ice.StringType(),
    pa.large_string(): ice.StringType(),
    pa.string_view(): ice.StringType(),
    pa.binary(): ice.BinaryType(),
    pa.large_binary(): ice.BinaryType(),
    pa.binary_view(): ice.BinaryType(),
    pa.uuid(): ice.UUIDType(),
}


# --- Iceberg to Arrow --------------------------------------------------------------------------------------------


def arrow_schema_of(schema: Schema, zone: str = "UTC") -> pa.Schema:
    """Returns the Arrow schema of a table's rows in queries and of new rows in writes.

    Timestamps with a time zone have the zone `zone`, that of the session, so that `t = '2024-07-01 12:00'` has the same
    meaning as in INSERT.
    """
    return pa.schema([pa.field(f.name, arrow_type_of(f.field_type, zone), not f.required) for f in schema.fields])


def stored_schema_of(schema: Schema) -> pa.Schema:
    """Returns the Arrow schema of a table's Parquet files, with field ids and Arrow's uuid type."""
    return pa.schema([_arrow_field(f, pa.uuid(), with_ids=True) for f in schema.fields])


def arrow_type_of(t: ice.IcebergType, zone: str = "UTC") -> pa.DataType:
    """Returns the Arrow type of `t` in queries with a given time zone."""
    return _in_zone(_arrow_type(t, pa.string(), with_ids=False), zone)


def _in_zone(t: pa.DataType, zone: str) -> pa.DataType:
    if is_.is_timestamp(t) and t.tz:
        return pa.timestamp(t.unit, tz=zone)
    if is_.is_struct(t):
        return pa.struct([f.with_type(_in_zone(f.type, zone)) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(*(f.with_type(_in_zone(f.type, zone)) for f in (t.key_field, t.item_field)))
    if is_.is_list(t):
        return pa.list_(t.value_field.with_type(_in_zone(t.value_type, zone)))
    return t


def _arrow_field(field: ice.NestedField, uuid: pa.DataType, *, with_ids: bool) -> pa.Field:
    metadata = {_FIELD_ID: str(field.field_id).encode()} if with_ids else None
    arrow = _arrow_type(field.field_type, uuid, with_ids=with_ids)
    return pa.field(field.name, arrow, nullable=not field.required, metadata=metadata)


def _arrow_type(t: ice.IcebergType, uuid: pa.DataType, *, with_ids: bool) -> pa.DataType:
    def member(field: ice.NestedField) -> pa.Field:
        return _arrow_field(field, uuid, with_ids=with_ids)

    match t:
        case ice.UUIDType():
            return uuid
        case ice.DecimalType():
            return pa.decimal128(t.precision, t.scale)
        case ice.FixedType():
            return pa.binary(len(t))
        case ice.StructType():
            return pa.struct([member(f) for f in t.fields])
        case ice.ListType():
            return pa.list_(member(t.element_field))
        case ice.MapType():
            return pa.map_(member(t.key_field), member(t.value_field))
    arrow = _ARROW.get(type(t))
    if arrow is None:
        raise InternalError(f"no Arrow type is known for Iceberg's {t}")
    return arrow


# --- Arrow to Iceberg --------------------------------------------------------------------------------------------


def iceberg_schema_of(arrow: pa.Schema, *, format_version: int = 2) -> Schema:
    """Returns the schema of a table created from a query's result, with fresh ids.

    Integers that Iceberg lacks widen to the next type that holds them; times and timestamps become microseconds
    (nanoseconds are kept from format version 3 on). Every column is optional: a result without NULL does not imply NOT
    NULL.
    """
    unique_names((f.name for f in arrow), "the query")
    ids = count(1)
    convert = _ToIceberg(lambda: next(ids), nanoseconds=format_version >= 3)
    fields = [convert.field(f.name, f.type, path=f.name) for f in arrow]
    return assign_fresh_schema_ids(Schema(*fields))


def unique_names(names: Iterable[str], where: str) -> None:
    """Raises unless each name is non-empty and unique."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise InvalidArgument(f"a column of {where} has no name. Give it one with AS.")
        if name in seen:
            raise InvalidArgument(f"column {name!r} is twice in {where}. Give one of them another name with AS.")
        seen.add(name)


class _ToIceberg:
    """Converts the fields of one schema; `path` locates a field in error messages."""

    def __init__(self, next_id: Callable[[], int], *, nanoseconds: bool) -> None:
        self._next_id = next_id
        self._nanoseconds = nanoseconds

    def field(self, name: str, t: pa.DataType, path: str) -> ice.NestedField:
        return ice.NestedField(self._next_id(), name, self.type(t, path), required=False)

    def type(self, t: pa.DataType, path: str) -> ice.IcebergType:
        plain = _ICEBERG.get(t)
        if plain is not None:
            return plain
        if is_.is_decimal(t):
            return self._decimal(t, path)
        if is_.is_timestamp(t):
            return self._timestamp(t)
        if is_.is_time(t):
            return ice.TimeType()
        if is_.is_fixed_size_binary(t):
            return ice.FixedType(t.byte_width)
        return self._nested(t, path)

    def _timestamp(self, t: pa.DataType) -> ice.IcebergType:
        if t.unit == "ns" and self._nanoseconds:
            return ice.TimestampNanoType() if t.tz is None else ice.TimestamptzNanoType()
        return ice.TimestampType() if t.tz is None else ice.TimestamptzType()

    def _decimal(self, t: pa.DataType, path: str) -> ice.IcebergType:
        if t.precision > 38 or not 0 <= t.scale <= t.precision:
            raise NotSupportedError(
                f"column {path!r} is {sql_name_of_arrow(t)}; Iceberg stores decimals of 1 to 38 digits, with a scale "
                f"from 0 to that. CAST it to such a decimal or to DOUBLE."
            )
        return ice.DecimalType(t.precision, t.scale)

    def _nested(self, t: pa.DataType, path: str) -> ice.IcebergType:
        if is_any_list(t):
            element = self.type(t.value_type, f"{path}.element")
            return ice.ListType(self._next_id(), element, element_required=False)
        if is_.is_map(t):
            key, value = self.type(t.key_type, f"{path}.key"), self.type(t.item_type, f"{path}.value")
            return ice.MapType(self._next_id(), key, self._next_id(), value, value_required=False)
        if is_.is_struct(t):
            unique_names((f.name for f in t.fields), f"the struct {path!r}")
            return ice.StructType(*(self.field(f.name, f.type, f"{path}.{f.name}") for f in t.fields))
        inner = unwrap_type(t)
        if inner is None:
            raise NotSupportedError(
                f"column {path!r} is {sql_name_of_arrow(t)}, which Iceberg can not store. "
                f"CAST it to a type that it can, such as VARCHAR or BIGINT."
            )
        return self.type(inner, path)
