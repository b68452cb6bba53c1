"""Converts Arrow batches into rows of Python values, for the fetch methods of PEP 249.

Numbers, strings and bytes become the corresponding Python types; DECIMAL becomes `Decimal`; dates and times become
types of `datetime`, which have microseconds: further digits are truncated. A list becomes a list, a struct a dict, a
map a dict (a list of pairs if its keys are nested values), an interval of months a `pyarrow.MonthDayNano`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.errors import ExecutionError
from pinakes.core.types.arrow_names import is_any_list, sql_name_of_arrow

Row = tuple[Any, ...]


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Yields all rows, batch by batch."""
    for batch in batches:
        if batch.num_columns == 0:
            yield from [()] * batch.num_rows
        else:
            columns = [_values(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
            yield from zip(*columns, strict=True)


def _values(column: pa.Array, name: str) -> list[Any]:
    try:
        rounded = _rounded(column)
        maps = "lossy" if _hashable_keys(column.type) else None
        found: list[Any] = rounded.to_pylist(maps_as_pydicts=maps)
    except (ValueError, OverflowError) as error:
        kind = sql_name_of_arrow(column.type)
        raise ExecutionError(
            f"column {name!r} ({kind}) has a value that Python's own type cannot hold: {error}. "
            f"Cast it to VARCHAR, or read it as Arrow."
        ) from error
    return found


def _rounded(column: pa.Array) -> pa.Array:
    """Returns the column without nanoseconds, which Python's types do not support."""
    target = _without_nanoseconds(column.type)
    if target == column.type:
        return column
    return pc.cast(column, options=pc.CastOptions(target, allow_time_truncate=True))


def _without_nanoseconds(t: pa.DataType) -> pa.DataType:
    if is_.is_timestamp(t) and t.unit == "ns":
        return pa.timestamp("us", t.tz)
    if is_.is_duration(t) and t.unit == "ns":
        return pa.duration("us")
    if is_.is_time64(t) and t.unit == "ns":
        return pa.time64("us")
    if is_.is_struct(t):
        return pa.struct([f.with_type(_without_nanoseconds(f.type)) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(_without_nanoseconds(t.key_type), _without_nanoseconds(t.item_type))
    if is_.is_list(t):
        return pa.list_(t.value_field.with_type(_without_nanoseconds(t.value_type)))
    return t


def _hashable_keys(t: pa.DataType) -> bool:
    """Whether the keys of every map in the type can be dict keys."""
    if is_.is_map(t):
        return not is_.is_nested(t.key_type) and _hashable_keys(t.item_type)
    if is_.is_struct(t):
        return all(_hashable_keys(f.type) for f in t.fields)
    return _hashable_keys(t.value_type) if is_any_list(t) else True
