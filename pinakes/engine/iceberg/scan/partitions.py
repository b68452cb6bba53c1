"""Derives bounds of a column from the partition value of a file, for every transform.

A transform that preserves order maps a range of values to one partition value. A bucket gives no range, but an equality
predicate matches exactly one bucket.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg import transforms as t
from pyiceberg import types as ice

from pinakes.engine.iceberg.scan.bounds import Range, is_floating, kind_of

_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()


def range_of_partition(transform: t.Transform[Any, Any], source: ice.IcebergType, values: pa.Array) -> Range | None:
    """Returns the range of source values for each partition value; None if the transform gives none.

    NULL gives no bounds. Floating-point columns are left out, because of NaN in their order.
    """
    kind = kind_of(source)
    if kind is None or is_floating(kind) or isinstance(source, ice.UUIDType):
        return None
    try:
        match transform:
            case t.IdentityTransform():
                exact = _as_kind(values, kind)
                return Range(exact, exact)
            case t.TruncateTransform():
                return _truncated(transform.width, source, _as_kind(values, kind), kind)
            case t.YearTransform() | t.MonthTransform() | t.DayTransform() | t.HourTransform():
                return _span(_STARTS[type(transform)], _as_numbers(values), kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, OverflowError):
        return None  # values that Arrow can't hold: no pruning
    return None


def _as_kind(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_string(values.type) and not pa.types.is_binary(kind):
        raise ValueError("a text where none is expected")
    return values if values.type == kind else values.cast(kind)


def _as_numbers(values: pa.Array) -> list[int | None]:
    if pa.types.is_date(values.type):  # day() is a date in some manifests, a number in others
        values = values.cast(pa.int32())
    found: list[int | None] = values.cast(pa.int64()).to_pylist()
    return found


def _truncated(width: int, source: ice.IcebergType, values: pa.Array, kind: pa.DataType) -> Range:
    nothing = pa.nulls(len(values), kind)
    if isinstance(source, ice.StringType):  # no UTF-8 text has the byte 0xff, so it sorts after the prefix
        return Range(values, pc.binary_join_element_wise(values, b"\xff", b""))
    if isinstance(source, ice.DecimalType):
        rest = pa.scalar(Decimal(width - 1).scaleb(-source.scale), pa.decimal128(38, source.scale))
        return Range(values, pc.add(values.cast(pa.decimal128(37, source.scale)), rest).cast(kind))
    if pa.types.is_integer(kind):
        return Range(values, pc.add_checked(values, pa.scalar(width - 1, kind)))
    return Range(values, nothing)


# --- years, months, days, hours ----------------------------------------------------------------------------------


def _span(start: Callable[[int], int], numbers: list[int | None], kind: pa.DataType) -> Range:
    """Returns the range from the start of each period to the start of the next.

    Old writers rounded times before 1970 up instead of down, so a period up to 1970 may also hold values of the one
    before.
    """
    scale = _scale(kind)
    least = [None if n is None else start(n if n > 0 else n - 1) * scale // _DAY for n in numbers]
    greatest = [None if n is None else start(n + 1) * scale // _DAY - 1 for n in numbers]
    return Range(_temporal(least, kind), _temporal(greatest, kind))


def _scale(kind: pa.DataType) -> int:
    """Returns the units of a type per day."""
    if pa.types.is_date(kind):
        return 1
    return _DAY * {"us": 1_000_000, "ns": 1_000_000_000}[kind.unit]


def _temporal(values: list[int | None], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int32() if pa.types.is_date(kind) else pa.int64()).cast(kind)


def _year_start(n: int) -> int:
    return (date(1970 + n, 1, 1).toordinal() - _EPOCH) * _DAY


def _month_start(n: int) -> int:
    return (date(1970 + n // 12, n % 12 + 1, 1).toordinal() - _EPOCH) * _DAY


_STARTS: dict[type[t.Transform[Any, Any]], Callable[[int], int]] = {
    t.YearTransform: _year_start,
    t.MonthTransform: _month_start,
    t.DayTransform: lambda n: n * _DAY,
    t.HourTransform: lambda n: n * 3600,
}
"""The second since 1970 at which the n-th period begins."""
