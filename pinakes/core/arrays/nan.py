"""One NaN, the one without its sign bit, in lists, maps and structs. DataFusion orders floats by their bits: a NaN with
a sign, which numpy computes for 0/0, would be less than all numbers and different from any other NaN.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.arrays.conform import compact, mask_of

_BITS = {pa.float64(): (pa.uint64(), 0xFFF << 52), pa.float32(): (pa.uint32(), 0x1FF << 23)}
"""For each type an integer of its width, and the bits of -Infinity: a NaN with a sign is greater than those."""


def holds_floats(t: pa.DataType) -> bool:
    """Returns whether lists, maps or structs have members of a floating-point type."""
    if not (is_.is_struct(t) or is_.is_map(t) or is_.is_list(t) or is_.is_large_list(t) or is_.is_fixed_size_list(t)):
        return False
    return any(t.field(at).type in _BITS or holds_floats(t.field(at).type) for at in range(t.num_fields))


def usual_nan_array(array: pa.Array) -> pa.Array:
    """Returns the array with one NaN; the same array if it has no other."""
    if array.type in _BITS:
        whole, infinity = _BITS[array.type]
        largest = pc.max(array.view(whole)).as_py()
        if largest is None or largest <= infinity:
            return array
        return pc.if_else(pc.is_nan(array), pa.scalar(math.nan, array.type), array)
    if not holds_floats(array.type):
        return array
    if is_.is_struct(array.type):
        members = array.flatten()
        found = [usual_nan_array(member) for member in members]
        if all(new is old for new, old in zip(found, members, strict=True)):
            return array
        return pa.StructArray.from_arrays(found, fields=list(array.type.fields), mask=array.is_null())
    if is_.is_map(array.type):
        array = compact(array)
        keys, items = usual_nan_array(array.keys), usual_nan_array(array.items)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=array.type, mask=mask_of(array))
    members = array.flatten()
    if usual_nan_array(members) is members:
        return array
    array = compact(array)
    values = usual_nan_array(array.values)
    if is_.is_fixed_size_list(array.type):
        return pa.FixedSizeListArray.from_arrays(values, type=array.type, mask=mask_of(array))
    kind = pa.LargeListArray if is_.is_large_list(array.type) else pa.ListArray
    return kind.from_arrays(array.offsets, values, type=array.type, mask=mask_of(array))


def usual_nan(value: Any) -> Any:
    """Returns the value of a parameter with one NaN."""
    if isinstance(value, float):
        return math.nan if math.isnan(value) else value
    if isinstance(value, list | tuple):
        return type(value)(map(usual_nan, value)) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {key: usual_nan(member) for key, member in value.items()}
    if isinstance(value, pa.Scalar) and (value.type in _BITS or holds_floats(value.type)):
        return usual_nan_array(pa.array([value], value.type))[0]
    return value
