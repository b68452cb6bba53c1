"""Column statistics from manifests: the minimum, the maximum, and the counts of NULL and NaN values of each file.

Every array has one value per file, NULL where the statistic is missing: such a file may hold any value. Strings are
compared as bytes, which is their order in both Iceberg and SQL.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg import types as ice

_KINDS: dict[type[ice.IcebergType], pa.DataType] = {
    ice.BooleanType: pa.bool_(),
    ice.IntegerType: pa.int32(),
    ice.LongType: pa.int64(),
    ice.FloatType: pa.float32(),
    ice.DoubleType: pa.float64(),
    ice.DateType: pa.date32(),
    ice.TimeType: pa.time64("us"),
    ice.TimestampType: pa.timestamp("us"),
    ice.TimestamptzType: pa.timestamp("us", "UTC"),
    ice.TimestampNanoType: pa.timestamp("ns"),
    ice.TimestamptzNanoType: pa.timestamp("ns", "UTC"),
    ice.StringType: pa.binary(),
    ice.BinaryType: pa.binary(),
    ice.FixedType: pa.binary(),
    ice.UUIDType: pa.binary(),
}


def kind_of(t: ice.IcebergType) -> pa.DataType | None:
    """Returns the Arrow type in which values are compared; None for a type that does not support pruning."""
    if isinstance(t, ice.DecimalType):
        return pa.decimal128(t.precision, t.scale)
    return _KINDS.get(type(t))


def is_floating(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind))


@dataclass(frozen=True, slots=True)
class Range:
    """The minimum and maximum value of each file; either may be NULL."""

    least: pa.Array
    greatest: pa.Array


def range_of(files: pa.Table, field_id: int, kind: pa.DataType) -> Range | None:
    """Returns the bounds of a column; None if they cannot be decoded as its type."""
    least = _decoded(files.column("lower_bounds"), field_id, kind)
    greatest = _decoded(files.column("upper_bounds"), field_id, kind)
    if least is None or greatest is None:
        return None
    if not pa.types.is_binary(kind):
        return Range(least, greatest)
    # pyiceberg 0.12 omits row groups without statistics from the bounds that it writes.
    whole = pc.invert(in_parts(files))
    return Range(pc.if_else(whole, least, None), pc.if_else(whole, greatest, None))


def counts(files: pa.Table, column: str, field_id: int) -> pa.Array:
    """Returns a per-file count of a field: `value_counts`, `null_value_counts`, `nan_value_counts` or
    `column_sizes`.
    """
    values, parents = _of_field(files.column(column), field_id)
    return _spread(values, parents, files.num_rows)


def one_valued(files: pa.Table, field_id: int) -> pa.Array:
    """Returns true for each file whose floating-point column may have NaN and a single other value."""
    values, nulls = counts(files, "value_counts", field_id), counts(files, "null_value_counts", field_id)
    numbers = pc.subtract(values, nulls)
    few = pc.fill_null(pc.less(numbers, 2), False)  # the bound of a single value proves that it is not NaN
    none = pc.fill_null(pc.equal(counts(files, "nan_value_counts", field_id), 0), False)
    sizes = pc.greater(pc.fill_null(pc.list_value_length(files.column("column_sizes")), 0), 0)
    absent = pc.and_(sizes, pc.and_(values.is_null(), counts(files, "column_sizes", field_id).is_null()))
    least, greatest = _bytes_of(files, "lower_bounds", field_id), _bytes_of(files, "upper_bounds", field_id)
    apart = pc.fill_null(pc.and_(pc.not_equal(least, greatest), pc.invert(_both_zero(least, greatest))), False)
    safe = pc.or_(pc.or_(few, none), pc.or_(absent, apart))
    return pc.invert(safe.combine_chunks() if isinstance(safe, pa.ChunkedArray) else safe)


def in_parts(files: pa.Table) -> pa.Array:
    """Returns true for each file that may have several row groups, some of which may lack statistics (long strings
    do).
    """
    offsets = files.column("split_offsets").combine_chunks()
    return pc.fill_null(pc.greater(pc.list_value_length(offsets), 1), True)


def _bytes_of(files: pa.Table, column: str, field_id: int) -> pa.Array:
    values, parents = _of_field(files.column(column), field_id)
    return _spread(values, parents, files.num_rows)


def _both_zero(one: pa.Array, other: pa.Array) -> pa.Array:
    """Returns true where both are zero: 0.0 and -0.0 have different bytes but may compare as equal."""
    zeros = pa.array([b"\0" * 4, b"\0\0\0\x80", b"\0" * 8, b"\0" * 7 + b"\x80"], pa.binary())
    return pc.and_(pc.is_in(one, zeros), pc.is_in(other, zeros))


def _decoded(column: pa.ChunkedArray, field_id: int, kind: pa.DataType) -> pa.Array | None:
    values, parents = _of_field(column, field_id)
    try:
        found = _fixed(values, kind) if _is_fixed(values, kind) else _each(values, kind)
    except (ValueError, OverflowError, struct.error):
        return None
    return _spread(found, parents, len(column))


def _of_field(column: pa.ChunkedArray, field_id: int) -> tuple[pa.Array, pa.Array]:
    """Returns the values of one field, and the index of the file of each."""
    lists = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    pairs = lists.flatten()
    mine = pc.equal(pairs.field("key"), field_id)
    return pairs.field("value").filter(mine), pc.list_parent_indices(lists).filter(mine)


def _spread(values: pa.Array, parents: pa.Array, length: int) -> pa.Array:
    if len(values) == length:
        return values
    return values.take(pc.index_in(pa.array(range(length), pa.int64()), parents.cast(pa.int64())))


def _is_fixed(values: pa.Array, kind: pa.DataType) -> bool:
    """Returns whether the bytes of all values already have the layout of an Arrow array."""
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_binary(kind) or not len(values):
        return False
    if values.null_count:  # NULLs have no bytes
        return False
    widths = pc.min_max(pc.binary_length(values)).as_py()
    return bool(widths["min"] == widths["max"] == kind.bit_width // 8)


def _fixed(values: pa.Array, kind: pa.DataType) -> pa.Array:
    whole = pa.concat_arrays([values])
    _, offsets, data = whole.buffers()
    first = struct.unpack_from("<i", offsets, whole.offset * 4)[0]
    width = kind.bit_width // 8
    return pa.Array.from_buffers(kind, len(whole), [None, data.slice(first, width * len(whole))])


def _each(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Decodes value by value: bounds written before a type was widened are shorter than later ones."""
    if pa.types.is_binary(kind):
        return values
    read = _reader(kind)
    found = [read(value) for value in values.to_pylist()]
    if pa.types.is_decimal(kind):
        data = b"".join(value.to_bytes(16, "little", signed=True) for value in found)
        return pa.Array.from_buffers(kind, len(found), [None, pa.py_buffer(data)])
    if pa.types.is_date(kind):
        return pa.array(found, pa.int32()).cast(kind)
    if pa.types.is_temporal(kind):
        return pa.array(found, pa.int64()).cast(kind)
    return pa.array(found, kind)


def _reader(kind: pa.DataType) -> Callable[[bytes], Any]:
    if pa.types.is_decimal(kind):
        return lambda value: int.from_bytes(value, "big", signed=True)
    if pa.types.is_boolean(kind):
        return lambda value: bool(struct.unpack("<?", value)[0])
    if is_floating(kind):
        return lambda value: struct.unpack("<f" if len(value) == 4 else "<d", value)[0]
    widths = (4, 8) if kind == pa.int64() else (kind.bit_width // 8,)  # a date bound is not read as a timestamp
    return lambda value: _integer(value, widths)


def _integer(value: bytes, widths: tuple[int, ...]) -> int:
    if len(value) not in widths:
        raise ValueError(f"a bound of {len(value)} bytes")
    return int.from_bytes(value, "little", signed=True)
