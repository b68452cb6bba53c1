"""The schema of several files: the types that queries see, and the common types of two files.

Columns are matched by name. All files must have the same columns, in any order, unless `union_by_name` is given: then
missing columns are NULL. Numbers and times of different width get the wider type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.errors import DataCorrupt, InvalidArgument, NotSupportedError, TypeMismatch, listing
from pinakes.core.types.arrow_names import is_any_list, sql_name_of_arrow, unwrap_type

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File

_UNITS = ("s", "ms", "us", "ns")
_LARGE = {pa.large_string(): pa.string(), pa.string_view(): pa.string(), pa.large_binary(): pa.binary()}
_PLAIN = {**_LARGE, pa.binary_view(): pa.binary(), pa.float16(): pa.float32()}


def present_schema(schema: pa.Schema, zone: str) -> pa.Schema:
    """Returns the columns of a file as queries see them: without encodings, and timestamps in the session's zone."""
    return pa.schema([pa.field(f.name, shown_type(f.type, zone)) for f in schema])


def shown_type(t: pa.DataType, zone: str) -> pa.DataType:
    if isinstance(t, pa.UuidType):
        return pa.string()
    inner = unwrap_type(t)
    if inner is not None:
        return shown_type(inner, zone)
    if is_.is_timestamp(t) and t.tz is not None:
        return pa.timestamp(t.unit, zone)
    if is_.is_decimal32(t) or is_.is_decimal64(t):
        return pa.decimal128(t.precision, t.scale)
    if is_.is_union(t):
        raise NotSupportedError(f"a column of type {t} can not be read: Arrow's unions have no place in SQL")
    return _nested(t, zone) if is_.is_nested(t) else _PLAIN.get(t, t)


def _nested(t: pa.DataType, zone: str) -> pa.DataType:
    if is_.is_map(t):
        return pa.map_(shown_type(t.key_type, zone), shown_type(t.item_type, zone))
    if is_any_list(t):
        return pa.list_(pa.field(t.value_field.name, shown_type(t.value_type, zone)))
    return pa.struct([pa.field(f.name, shown_type(f.type, zone)) for f in t.fields])


def check_names(schema: pa.Schema, file: File) -> None:
    duplicates = next((n for i, n in enumerate(schema.names) if n in schema.names[:i]), None)
    if duplicates is not None:
        raise DataCorrupt(f"{file} has two columns {duplicates!r}: a query could not distinguish them")
    if not schema.names:
        raise DataCorrupt(f"{file} has no columns")


def unite_schemas(schemas: Iterable[tuple[File, pa.Schema]], *, by_name: bool) -> pa.Schema:
    """Returns the common schema of all files."""
    pairs = list(schemas)
    first, whole = pairs[0]
    for file, schema in pairs[1:]:
        if schema.equals(whole):
            continue
        if not by_name:
            _check_same_names(first, whole, file, schema)
        fields = {f.name: f for f in whole}
        for field in schema:
            known = fields.get(field.name)
            fields[field.name] = (
                field if known is None else field.with_type(_common_field_type(known, field, first, file))
            )
        whole = pa.schema(list(fields.values()))
    return pa.schema([field.with_type(_without_null_types(field.type)) for field in whole])


def _without_null_types(t: pa.DataType) -> pa.DataType:
    """Returns the type with VARCHAR in place of NULL, for columns that are NULL in every file."""
    if is_.is_null(t):
        return pa.string()
    if is_.is_map(t):
        return pa.map_(_without_null_types(t.key_type), _without_null_types(t.item_type))
    if is_.is_list(t):
        return pa.list_(t.value_field.with_type(_without_null_types(t.value_type)))
    return pa.struct([f.with_type(_without_null_types(f.type)) for f in t.fields]) if is_.is_struct(t) else t


def _check_same_names(first: File, whole: pa.Schema, file: File, schema: pa.Schema) -> None:
    missing, more = set(whole.names) - set(schema.names), set(schema.names) - set(whole.names)
    if missing or more:
        said = [f"it lacks {listing(missing)}"] * bool(missing) + [f"it also has {listing(more)}"] * bool(more)
        raise InvalidArgument(
            f"{file} has other columns than {first}: {' and '.join(said)}. With union_by_name => true a column that a "
            f"file lacks is NULL, as in read_parquet('data/*.parquet', union_by_name => true)."
        )


def _common_field_type(a: pa.Field, b: pa.Field, first: File, file: File) -> pa.DataType:
    found = common_type(a.type, b.type)
    if found is None:
        raise TypeMismatch(
            f"column {a.name!r} is {sql_name_of_arrow(a.type)} in {first} and {sql_name_of_arrow(b.type)} in {file}: "
            f"read them by themselves, CAST the column, and put the rows together with UNION ALL"
        )
    return found


# --- common types ------------------------------------------------------------------------------------------------


def common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Returns the type that holds the values of both; None if there is none."""
    if a.equals(b):
        return a
    if is_.is_null(a) or is_.is_null(b):
        return b if is_.is_null(a) else a
    if _is_number(a) and _is_number(b):
        return _number(a, b)
    if is_.is_temporal(a) and is_.is_temporal(b):
        return _time(a, b)
    if is_.is_struct(a) and is_.is_struct(b):
        return _struct(a, b)
    if is_.is_list(a) and is_.is_list(b):
        item = common_type(a.value_type, b.value_type)
        return None if item is None else pa.list_(pa.field(a.value_field.name, item))
    if is_.is_map(a) and is_.is_map(b):
        key, item = common_type(a.key_type, b.key_type), common_type(a.item_type, b.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    return None


def _is_number(t: pa.DataType) -> bool:
    return bool(is_.is_integer(t) or is_.is_floating(t) or is_.is_decimal(t))


def _number(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if is_.is_floating(a) or is_.is_floating(b):
        return pa.float64()
    if is_.is_integer(a) and is_.is_integer(b) and pa.uint64() not in (a, b):
        same = is_.is_signed_integer(a) == is_.is_signed_integer(b)
        return max(a, b, key=lambda t: t.bit_width) if same else pa.int64()
    (pa_, sa), (pb, sb) = _digits(a), _digits(b)
    scale = max(sa, sb)
    precision = max(pa_ - sa, pb - sb) + scale
    return pa.decimal128(precision, scale) if precision <= 38 else None


def _digits(t: pa.DataType) -> tuple[int, int]:
    if is_.is_decimal(t):
        return t.precision, t.scale
    return {8: 3, 16: 5, 32: 10, 64: 20 if t == pa.uint64() else 19}[t.bit_width], 0


def _time(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if is_.is_date(a) and is_.is_date(b):
        return pa.date32()
    dates = [t for t in (a, b) if is_.is_date(t)]
    stamps = [t for t in (a, b) if is_.is_timestamp(t)]
    if len(dates) == len(stamps) == 1:
        return stamps[0] if stamps[0].tz is None else None
    if len(stamps) == 2 and a.tz == b.tz:
        return pa.timestamp(max(a.unit, b.unit, key=_UNITS.index), a.tz)
    if is_.is_time(a) and is_.is_time(b):
        unit = max(a.unit, b.unit, key=_UNITS.index)
        return pa.time64(unit) if unit in ("us", "ns") else pa.time32(unit)
    return None


def _struct(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    fields = {f.name: f.type for f in a.fields}
    for f in b.fields:
        met = common_type(fields[f.name], f.type) if f.name in fields else f.type
        if met is None:
            return None
        fields[f.name] = met
    return pa.struct(list(fields.items()))
