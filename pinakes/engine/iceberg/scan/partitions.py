"""What the partition of a file tells of its rows: the values between which a column must be, for every transform.

A transform that keeps the order says from where to where the values go that it makes one of. A bucket says nothing of
the sort, but a value that is asked for has one bucket only.
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
    """Between which values of the source a file's rows are, from its partition value; None when that tells nothing.

    A NULL tells nothing either. Floating columns are left out: their order has NaN in it.
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
        return None  # values that Arrow can't hold: nothing is left out by them
    return None


def _as_kind(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_string(values.type) and not pa.types.is_binary(kind):
        raise ValueError("a text where none is expected")
    return values if values.type == kind else values.cast(kind)


def _as_numbers(values: pa.Array) -> list[int | None]:
    if pa.types.is_date(values.type):  # what day() makes is a date in some manifests, a number in others
        values = values.cast(pa.int32())
    found: list[int | None] = values.cast(pa.int64()).to_pylist()
    return found


def _truncated(width: int, source: ice.IcebergType, values: pa.Array, kind: pa.DataType) -> Range:
    nothing = pa.nulls(len(values), kind)
    if isinstance(source, ice.StringType):  # a byte that no text has comes after whatever begins so
        return Range(values, pc.binary_join_element_wise(values, b"\xff", b""))
    if isinstance(source, ice.DecimalType):
        rest = pa.scalar(Decimal(width - 1).scaleb(-source.scale), pa.decimal128(38, source.scale))
        return Range(values, pc.add(values.cast(pa.decimal128(37, source.scale)), rest).cast(kind))
    if pa.types.is_integer(kind):
        return Range(values, pc.add_checked(values, pa.scalar(width - 1, kind)))
    return Range(values, nothing)


# --- years, months, days, hours ----------------------------------------------------------------------------------


def _span(start: Callable[[int], int], numbers: list[int | None], kind: pa.DataType) -> Range:
    """From the start of each to before the start of the next. Old writers rounded times before 1970 up and not down, so
    what is called the first after may hold what was the last before."""
    scale = _scale(kind)
    least = [None if n is None else start(n if n > 0 else n - 1) * scale // _DAY for n in numbers]
    greatest = [None if n is None else start(n + 1) * scale // _DAY - 1 for n in numbers]
    return Range(_temporal(least, kind), _temporal(greatest, kind))


def _scale(kind: pa.DataType) -> int:
    """The units of a type in a day."""
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
"""The second since 1970 at which the n-th of each begins."""
