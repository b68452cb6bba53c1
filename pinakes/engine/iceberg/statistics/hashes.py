"""Hashes of column values as in Iceberg's sketches: of the bytes of Iceberg's single-value serialization.

Numbers, dates and times have a fixed width of at most eight bytes and are hashed a column at a time by Arrow's kernels,
which is ten times as fast; strings, binary values and decimals are hashed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
from mmh3 import mmh3_x64_128_utupledigest as _hash
from pyarrow import types as is_
from pyiceberg import types as ice

from pinakes.engine.iceberg.statistics.sketch import SEED, ThetaSketch
from pinakes.engine.iceberg.write.parquet.bounds import unscaled

_COUNTED = (
    ice.BooleanType,
    ice.IntegerType,
    ice.LongType,
    ice.FloatType,
    ice.DoubleType,
    ice.DateType,
    ice.TimeType,
    ice.TimestampType,
    ice.TimestamptzType,
    ice.TimestampNanoType,
    ice.TimestamptzNanoType,
    ice.StringType,
    ice.BinaryType,
    ice.FixedType,
    ice.DecimalType,
    ice.UUIDType,
)
_PLAIN = {1: pa.uint8(), 4: pa.uint32(), 8: pa.uint64()}


def is_counted(kind: ice.IcebergType) -> bool:
    """Returns whether values of the type can be counted: lists, maps and structs cannot."""
    return isinstance(kind, _COUNTED)


def count(sketch: ThetaSketch, values: pa.Array, kind: ice.IcebergType) -> None:
    """Adds the values of a column, in the form that queries see, to a sketch. NULLs are ignored."""
    values = _different(values)
    if not len(values):
        return
    numbers = _as_numbers(values, kind)
    if numbers is not None:
        sketch.add_array(_hashed(*numbers))
    else:
        sketch.add(_hash(value, SEED)[0] >> 1 for value in _as_bytes(values, kind) if value)


def _different(values: pa.Array) -> pa.Array:
    if is_.is_string_view(values.type) or is_.is_string(values.type):
        values = values.cast(pa.large_string())
    elif is_.is_binary_view(values.type):
        values = values.cast(pa.large_binary())
    return pc.unique(values).drop_null()


def _as_numbers(values: pa.Array, kind: ice.IcebergType) -> tuple[pa.Array, int] | None:
    """Returns the bytes of each value as one number, and their width; None if it may exceed eight bytes."""
    if isinstance(kind, ice.BooleanType):
        return values.cast(pa.uint64()), 1
    t = values.type
    if isinstance(kind, ice.DecimalType | ice.UUIDType | ice.FixedType) or is_.is_large_string(t) or not _is_fixed(t):
        return None
    width = t.bit_width // 8
    return values.view(_PLAIN[width]).cast(pa.uint64()), width


def _is_fixed(t: pa.DataType) -> bool:
    return bool(is_.is_primitive(t))


def _as_bytes(values: pa.Array, kind: ice.IcebergType) -> Iterable[bytes]:
    if isinstance(kind, ice.UUIDType):
        return [v.bytes if isinstance(v, UUID) else UUID(v).bytes for v in values.to_pylist()]
    if isinstance(kind, ice.DecimalType):
        return [unscaled(number) for number in _unscaled_numbers(values.cast(pa.decimal128(38, kind.scale)))]
    if is_.is_large_string(values.type):
        values = values.cast(pa.large_binary())
    found: list[bytes] = values.to_pylist()
    return found


def _unscaled_numbers(values: pa.Array) -> Iterable[int]:
    content = memoryview(values.buffers()[1])[16 * values.offset :]
    return [int.from_bytes(content[at : at + 16], "little", signed=True) for at in range(0, 16 * len(values), 16)]


# --- MurmurHash3, of at most eight bytes -----------------------------------------------------------------------------


def _number(value: int) -> pa.Scalar:
    return pa.scalar(value, pa.uint64())


_C1, _C2 = _number(0x87C37B91114253D5), _number(0x4CF5AD432745937F)
_M1, _M2 = _number(0xFF51AFD7ED558CCD), _number(0xC4CEB9FE1A85EC53)
_ONE = _number(1)


def _hashed(numbers: pa.Array, width: int) -> pa.Array:
    """Returns the upper 63 bits of the first half of the hash."""
    start = SEED ^ width
    first = pc.bit_wise_xor(pc.multiply(_rotated(pc.multiply(numbers, _C1), 31), _C2), _number(SEED))
    first = pc.add(pc.bit_wise_xor(first, _number(width)), _number(start))
    second = pc.add(first, _number(start))
    return pc.shift_right(pc.add(_mixed(first), _mixed(second)), _ONE)


def _rotated(numbers: pa.Array, bits: int) -> pa.Array:
    return pc.bit_wise_or(pc.shift_left(numbers, _number(bits)), pc.shift_right(numbers, _number(64 - bits)))


def _mixed(numbers: pa.Array) -> pa.Array:
    for factor in (_M1, _M2):
        numbers = pc.multiply(_folded(numbers), factor)
    return _folded(numbers)


def _folded(numbers: pa.Array) -> pa.Array:
    return pc.bit_wise_xor(numbers, pc.shift_right(numbers, _number(33)))
