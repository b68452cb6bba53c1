"""Keeps NULL lists and maps: pyiceberg rebuilds lists of structs and maps to structs without their validity.

It does so both when it reads and when it writes a file, so that without this a NULL becomes an empty list.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyiceberg.io.pyarrow import ArrowProjectionVisitor
from pyiceberg.types import ListType, MapType

THEIR_LIST = ArrowProjectionVisitor.list
THEIR_MAP = ArrowProjectionVisitor.map


def list_with_nulls(self: ArrowProjectionVisitor, kind: ListType, array: Any, values: Any) -> Any:
    return _with_nulls_of(array, THEIR_LIST(self, kind, array, values))


def map_with_nulls(self: ArrowProjectionVisitor, kind: MapType, array: Any, keys: Any, values: Any) -> Any:
    return _with_nulls_of(array, THEIR_MAP(self, kind, array, keys, values))


def _with_nulls_of(original: Any, rebuilt: Any) -> Any:
    """Returns the rebuilt array with NULLs where the original has them. Its type is kept, since it contains the field
    ids.
    """
    if rebuilt is None or rebuilt.null_count == original.null_count:
        return rebuilt
    kind, mask = rebuilt.type, original.is_null()
    whole = pa.concat_arrays([rebuilt, pa.nulls(0, kind)])  # a slice has offsets that can't be combined with a mask
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(whole.offsets, whole.keys, whole.items, type=kind, mask=mask)
    return type(whole).from_arrays(whole.offsets, whole.values, type=kind, mask=mask)
