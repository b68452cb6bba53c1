"""Converts batches to an exact target schema, from files to queries and back.

pyarrow's casts do most of it. This module adds the conversion of uuids at any depth, which are 16 bytes in a file and
text in a query (`core/types/iceberg_arrow.py` gives the reason). Columns are matched by position; their names are those
of the target."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.errors import ConstraintViolation, TypeMismatch
from pinakes.core.types.arrow_names import is_any_list, sql_name_of_arrow

_DASHES = (0, 8, 12, 16, 20, 32)
_UUID = r"^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$"


def conform(batch: pa.RecordBatch, target: pa.Schema, *, first: int | None = None) -> pa.RecordBatch:
    """Converts the batch to `target`. Raises TypeMismatch if a value doesn't fit, ConstraintViolation for NULL in a
    NOT NULL column. With `first`, the number of the batch's first row in the write, the error names the row.
    """
    if batch.schema.equals(target, check_metadata=True):
        return batch
    columns = [_column(column, field, first) for column, field in zip(batch.columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def _column(column: pa.Array, field: pa.Field, first: int | None) -> pa.Array:
    if column.null_count and not field.nullable:
        place = pc.index(column.is_null(), True).as_py()
        raise ConstraintViolation(f"column {field.name!r} is NOT NULL, and {_row(place, first)} has NULL in it")
    try:
        return conform_array(column, field.type)
    except _NullWithin as error:
        at = _row(_failing(column, field.type), first)
        raise ConstraintViolation(f"column {field.name!r} has a NULL in a field that is NOT NULL, in {at}") from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise TypeMismatch(
            f"column {field.name!r} is {sql_name_of_arrow(field.type)}, and a value of type "
            f"{sql_name_of_arrow(column.type)} does not fit, in {_row(_failing(column, field.type), first)}: {error}"
        ) from error


def _row(place: int, first: int | None) -> str:
    return "a row" if first is None else f"row {first + place}"


def _failing(column: pa.Array, target: pa.DataType) -> int:
    """Returns the index of the first value that can't be converted, by binary search."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            conform_array(column.slice(low, middle - low), target)
        except (_NullWithin, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            high = middle
        else:
            low = middle
    return low


def conform_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Converts the array to `target`; raises ArrowInvalid or ValueError if a value doesn't fit."""
    if array.type.equals(target, check_metadata=True):
        return array
    if _is_uuid(target) and not _is_uuid(array.type):
        stored = array if is_.is_fixed_size_binary(array.type) else uuid_bytes(array.cast(pa.string()))
        return pa.ExtensionArray.from_storage(pa.uuid(), stored.cast(pa.binary(16)))
    if _is_uuid(array.type) and not _is_uuid(target):
        return array.storage.cast(target) if is_.is_fixed_size_binary(target) else uuid_text(array.storage).cast(target)
    if _is_special(target) or _holds_uuid(array.type):
        return _nested(array, target)
    # now() has nanoseconds and a table microseconds: only digits of time may be truncated.
    found = pc.cast(array, options=pc.CastOptions(target, allow_time_truncate=True))
    if is_.is_float32(target) and is_.is_float64(array.type):
        _check_range(array, found)
    return found


def _check_range(given: pa.Array, found: pa.Array) -> None:
    """Raises if a number becomes infinite, which pyarrow's cast allows."""
    lost = given.filter(pc.and_(pc.is_finite(given), pc.is_inf(found)))
    if len(lost):
        raise ValueError(f"{lost[0].as_py()!r} is out of its range")


def uuid_text(array: pa.Array) -> pa.Array:
    """Converts arrays of 16 bytes to canonical text."""
    filled = array.fill_null(bytes(16)).cast(pa.binary())
    digits = b"".join(filled.to_pylist()).hex().encode()
    rows = pa.Array.from_buffers(pa.binary(32), len(array), [None, pa.py_buffer(digits)]).cast(pa.string())
    parts = [pc.utf8_slice_codeunits(rows, a, b) for a, b in pairwise(_DASHES)]
    return _masked(pc.binary_join_element_wise(*parts, "-"), array)


def uuid_bytes(array: pa.Array) -> pa.Array:
    """Converts arrays of text to 16 bytes; raises ValueError with the first text that is not a uuid."""
    bad = array.filter(pc.invert(pc.match_substring_regex(array, _UUID)))
    if len(bad):
        raise ValueError(f"{bad[0].as_py()!r} is not a uuid such as 123e4567-e89b-12d3-a456-426614174000")
    digits = "".join(array.fill_null("0" * 32).to_pylist()).replace("-", "")
    rows = pa.Array.from_buffers(pa.binary(16), len(array), [None, pa.py_buffer(bytes.fromhex(digits))])
    return _masked(rows, array)


def _masked(values: pa.Array, like: pa.Array) -> pa.Array:
    """Returns `values` with NULL where `like` is NULL."""
    return pc.if_else(like.is_valid(), values, pa.scalar(None, values.type)) if like.null_count else values


def _nested(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Rebuilds a list, map or struct with converted members."""
    if is_.is_struct(target) and is_.is_struct(array.type):
        found = zip(array.flatten(), target.fields, strict=True)
        members = [_member(member, field, allowed=array.null_count) for member, field in found]
        return pa.StructArray.from_arrays(members, fields=list(target.fields), mask=array.is_null())
    if is_.is_map(target) and is_.is_map(array.type):
        array = compact(array)
        keys, items = conform_array(array.keys, target.key_type), _member(array.items, target.item_field)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=target, mask=mask_of(array))
    if is_.is_list(target) and is_any_list(array.type):
        array = compact(array if is_.is_list(array.type) else array.cast(pa.list_(array.type.value_field)))
        values = _member(array.values, target.value_field)
        return pa.ListArray.from_arrays(array.offsets, values, type=target, mask=mask_of(array))
    raise ValueError("a nested value can not become a plain one, nor the other way round")


def _member(member: pa.Array, field: pa.Field, allowed: int = 0) -> pa.Array:
    """Converts a member; `allowed` is the number of its NULLs that come from a NULL parent."""
    if member.null_count > allowed and not field.nullable:
        raise _NullWithin
    return conform_array(member, field.type)


class _NullWithin(Exception):
    """A NULL inside a nested value; the caller adds the column name."""


def compact(array: pa.Array) -> pa.Array:
    """Copies a slice so that it holds only its own values, without the offsets and members outside the slice."""
    return pa.concat_arrays([array, pa.nulls(0, array.type)])


def with_null_fields(array: pa.Array) -> pa.Array:
    """Returns the array with NULL in the fields of each struct that is NULL. Arrow allows any value there, and
    DataFusion's access to a field returns it.
    """
    if not _has_null_struct(array):
        return array
    if is_.is_struct(array.type):
        members = [with_null_fields(member) for member in array.flatten()]
        return pa.StructArray.from_arrays(members, fields=list(array.type.fields), mask=mask_of(array))
    array = compact(array)
    if is_.is_map(array.type):
        items = with_null_fields(array.items)
        return pa.MapArray.from_arrays(array.offsets, array.keys, items, type=array.type, mask=mask_of(array))
    values = with_null_fields(array.values)
    return type(array).from_arrays(array.offsets, values, type=array.type, mask=mask_of(array))


def _has_null_struct(array: pa.Array) -> bool:
    t = array.type
    if is_.is_struct(t):
        return bool(array.null_count) or any(_has_null_struct(array.field(i)) for i in range(t.num_fields))
    if is_.is_map(t):
        return _has_null_struct(array.items)
    return (is_.is_list(t) or is_.is_large_list(t)) and _has_null_struct(array.values)


def mask_of(array: pa.Array) -> pa.Array | None:
    """Returns the null mask in the form that the constructors of nested arrays take."""
    return array.is_null() if array.null_count else None


def _is_uuid(t: pa.DataType) -> bool:
    return isinstance(t, pa.UuidType)


def _is_special(t: pa.DataType) -> bool:
    """Returns whether the type contains a uuid, or a NOT NULL member, which pyarrow's cast of a list does not check."""
    return any(_is_uuid(f.type) or not f.nullable or _is_special(f.type) for f in _members(t))


def _holds_uuid(t: pa.DataType) -> bool:
    return any(_is_uuid(f.type) or _holds_uuid(f.type) for f in _members(t))


def _members(t: pa.DataType) -> list[pa.Field]:
    if is_.is_struct(t):
        return list(t.fields)
    if is_.is_map(t):  # a key is never NULL, by the format
        return [t.key_field.with_nullable(True), t.item_field]
    return [t.value_field] if is_any_list(t) else []
