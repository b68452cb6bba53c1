"""Batches brought to the exact schema that is asked for: what comes from files to what queries see, and back.

pyarrow's casts do most of it. What they can't do is here: a uuid is 16 bytes in a file and text in a query
(`core/iceberg_arrow.py` says why), at any depth. Columns are matched by position; their names are the target's.
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.arrow_types import is_any_list, sql_name_of_arrow
from pinakes.core.errors import ConstraintViolation, TypeMismatch

_DASHES = (0, 8, 12, 16, 20, 32)
_UUID = r"^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$"


def conform(batch: pa.RecordBatch, target: pa.Schema, *, first: int | None = None) -> pa.RecordBatch:
    """The batch under `target`: TypeMismatch if a value doesn't fit, ConstraintViolation on NULL where none may be.
    With `first`, the number of the batch's first row among those that are written, the error names the row."""
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
    """The place of the first value that can't be converted: halves that can are left out."""
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
    """The array as `target`; ArrowInvalid or ValueError when a value doesn't fit."""
    if array.type.equals(target, check_metadata=True):
        return array
    if _is_uuid(target) and not _is_uuid(array.type):
        stored = array if is_.is_fixed_size_binary(array.type) else uuid_bytes(array.cast(pa.string()))
        return pa.ExtensionArray.from_storage(pa.uuid(), stored.cast(pa.binary(16)))
    if _is_uuid(array.type) and not _is_uuid(target):
        return array.storage.cast(target) if is_.is_fixed_size_binary(target) else uuid_text(array.storage).cast(target)
    if _is_special(target) or _holds_uuid(array.type):
        return _nested(array, target)
    # now() has nanoseconds and a table microseconds: digits of time may go, nothing else may.
    found = pc.cast(array, options=pc.CastOptions(target, allow_time_truncate=True))
    if is_.is_float32(target) and is_.is_float64(array.type):
        _check_range(array, found)
    return found


def _check_range(given: pa.Array, found: pa.Array) -> None:
    """A number must not become infinite, which pyarrow's cast lets happen."""
    lost = given.filter(pc.and_(pc.is_finite(given), pc.is_inf(found)))
    if len(lost):
        raise ValueError(f"{lost[0].as_py()!r} is out of its range")


def uuid_text(array: pa.Array) -> pa.Array:
    """Arrays of 16 bytes as canonical text."""
    filled = array.fill_null(bytes(16)).cast(pa.binary())
    digits = b"".join(filled.to_pylist()).hex().encode()
    rows = pa.Array.from_buffers(pa.binary(32), len(array), [None, pa.py_buffer(digits)]).cast(pa.string())
    parts = [pc.utf8_slice_codeunits(rows, a, b) for a, b in pairwise(_DASHES)]
    return _masked(pc.binary_join_element_wise(*parts, "-"), array)


def uuid_bytes(array: pa.Array) -> pa.Array:
    """Arrays of text as 16 bytes; ValueError names a text that is no uuid."""
    bad = array.filter(pc.invert(pc.match_substring_regex(array, _UUID)))
    if len(bad):
        raise ValueError(f"{bad[0].as_py()!r} is not a uuid such as 123e4567-e89b-12d3-a456-426614174000")
    digits = "".join(array.fill_null("0" * 32).to_pylist()).replace("-", "")
    rows = pa.Array.from_buffers(pa.binary(16), len(array), [None, pa.py_buffer(bytes.fromhex(digits))])
    return _masked(rows, array)


def _masked(values: pa.Array, like: pa.Array) -> pa.Array:
    """`values` with NULL where `like` has it."""
    return pc.if_else(like.is_valid(), values, pa.scalar(None, values.type)) if like.null_count else values


def _nested(array: pa.Array, target: pa.DataType) -> pa.Array:
    """A list, map or struct rebuilt around its converted members."""
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
    """A converted member; `allowed` of its NULLs stand for the value around it."""
    if member.null_count > allowed and not field.nullable:
        raise _NullWithin
    return conform_array(member, field.type)


class _NullWithin(Exception):
    """A NULL within a value; the column knows its name."""


def compact(array: pa.Array) -> pa.Array:
    """The same values alone: of a slice, the offsets and members of what was cut off go."""
    return pa.concat_arrays([array, pa.nulls(0, array.type)])


def mask_of(array: pa.Array) -> pa.Array | None:
    """Where it is NULL, as the makers of nested arrays want to know it."""
    return array.is_null() if array.null_count else None


def _is_uuid(t: pa.DataType) -> bool:
    return isinstance(t, pa.UuidType)


def _is_special(t: pa.DataType) -> bool:
    """Whether it holds a uuid, or a member that is NOT NULL, which pyarrow's cast of a list does not look at."""
    return any(_is_uuid(f.type) or not f.nullable or _is_special(f.type) for f in _members(t))


def _holds_uuid(t: pa.DataType) -> bool:
    return any(_is_uuid(f.type) or _holds_uuid(f.type) for f in _members(t))


def _members(t: pa.DataType) -> list[pa.Field]:
    if is_.is_struct(t):
        return list(t.fields)
    if is_.is_map(t):  # a key is never NULL, by the format
        return [t.key_field.with_nullable(True), t.item_field]
    return [t.value_field] if is_any_list(t) else []
