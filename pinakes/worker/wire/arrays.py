"""Builds small arrays from buffers. `pa.array` imports pandas if it is installed, to check for pandas objects, which
delays a worker's first response by a second or more.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types as is_

_INT32, _INT64 = struct.Struct("<i"), struct.Struct("<q")


def one(value: Any, t: pa.DataType) -> pa.Array:
    """Returns an array of one value."""
    return pa.nulls(1, t) if value is None else many([value], t)


def many(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    """Returns an array of values without NULLs. Types that the protocol does not use are left to Arrow."""
    if not values:
        return pa.nulls(0, t)
    if is_.is_string(t) or is_.is_binary(t):
        return _texts([v.encode() if isinstance(v, str) else bytes(v) for v in values], t, _INT32)
    if is_.is_large_binary(t):
        return _texts([bytes(v) for v in values], t, _INT64)
    if is_.is_int64(t) or is_.is_int32(t):
        number = _INT64 if is_.is_int64(t) else _INT32
        return pa.Array.from_buffers(t, len(values), [None, pa.py_buffer(b"".join(map(number.pack, values)))])
    if is_.is_boolean(t) and len(values) == 1:
        return pa.Array.from_buffers(t, 1, [None, pa.py_buffer(b"\1" if values[0] else b"\0")])
    if is_.is_dictionary(t) and len(values) == 1 and is_.is_int32(t.index_type):
        return pa.DictionaryArray.from_arrays(many([0], pa.int32()), many(values, t.value_type))
    if is_.is_dictionary(t) and len(values) == 1 and is_.is_int16(t.index_type):
        index = pa.Array.from_buffers(pa.int16(), 1, [None, pa.py_buffer(b"\0\0")])
        return pa.DictionaryArray.from_arrays(index, many(values, t.value_type))
    if is_.is_list(t) and not any(v is None for inner in values for v in inner):
        below = many([v for inner in values for v in inner], t.value_type)
        return pa.ListArray.from_arrays(_ends([len(v) for v in values]), below, type=t)
    return pa.array(values, t)


def _texts(values: list[bytes], t: pa.DataType, number: struct.Struct) -> pa.Array:
    ends, at = [0], 0
    for value in values:
        at += len(value)
        ends.append(at)
    offsets = pa.py_buffer(b"".join(map(number.pack, ends)))
    return pa.Array.from_buffers(t, len(values), [None, offsets, pa.py_buffer(b"".join(values))])


def _ends(lengths: list[int]) -> pa.Array:
    ends = [0]
    for length in lengths:
        ends.append(ends[-1] + length)
    return many(ends, pa.int32())
