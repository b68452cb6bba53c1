"""Pruning through functions that preserve order: `CAST(at AS DATE) = …`, `date_trunc('month', at) >= …` and others.

The bounds of a column give the bounds of the function's result: minimum maps to minimum, and maximum to maximum. If a
time zone matters, the range is widened by the largest possible offset.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.engine.iceberg.scan.bounds import Range
from pinakes.engine.pushdown.predicate import Call, Case, Cast, Literal, Predicate

_SPANS = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
_UNITS = {*_SPANS, "hour", "minute", "second", "millisecond", "microsecond"}
_FAR = {"us": 250_000_000_000_000_000, "ns": 9_000_000_000_000_000_000}
"""Limit in units since 1970: later times have no year in Arrow's calendar, or are too close to the end of their
type.
"""
_REACH = (datetime(1678, 1, 2), datetime(2261, 12, 31))
_DAY = timedelta(days=1)
_TYPE = re.compile(r"(Date32|Float64|Timestamp\((us|µs|ns)\)|Decimal128\((\d+), (\d+)\))")
"""The types in DataFusion's form."""


@dataclass(frozen=True, slots=True)
class Image:
    """A function applied to a column."""

    kind: pa.DataType
    """The type of the result."""
    of: Callable[[Range], Range]

    def range(self, known: Range) -> Range | None:
        """Returns the bounds of the function's result; None if they are unknown."""
        try:
            return self.of(known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # values that the type can't hold
            return None


def argument(e: Predicate) -> Predicate | None:
    """Returns the argument of a function that may preserve order."""
    match e:
        case Cast(inner, is_try=False) | Call("date_trunc", (_, inner)) | Case(then=Call("date_trunc", (_, inner))):
            return inner
    return None


def image_of(e: Predicate, kind: pa.DataType) -> Image | None:
    """Returns the function of an expression over an argument of type `kind`; None if it may not preserve order.

    The parser wraps date_trunc in a CASE for years that it does not support (`parser/typed/calls.py`); the call is used
    for ranges without such years.
    """
    match e:
        case Cast(_, type_name):
            return _cast(type_name, kind)
        case Call("date_trunc", (unit, _)):
            return _truncated(unit, kind)
        case Case(then=Call("date_trunc", (unit, _))):
            found = _truncated(unit, kind)
            return None if found is None else _within_reach(found)
    return None


def _within_reach(image: Image) -> Image:
    """Restricts the function to times that date_trunc supports: the other arm of the CASE is not analysed."""

    def of(known: Range) -> Range:
        return image.of(Range(_reached(known.least), _reached(known.greatest)))

    return Image(image.kind, of)


def _reached(times: pa.Array) -> pa.Array:
    numbers = times.cast(pa.int64())
    least, most = (pa.scalar(day, pa.timestamp(times.type.unit)).cast(pa.int64()) for day in _REACH)
    return pc.if_else(pc.and_(pc.greater(numbers, least), pc.less(numbers, most)), times, None)


def _cast(type_name: str, kind: pa.DataType) -> Image | None:
    """Returns the function of a CAST."""
    found = _TYPE.fullmatch(type_name)
    if found is None:
        return None
    if found[1] == "Date32":
        return _date(kind) if is_.is_timestamp(kind) else None
    if found[1] == "Float64":
        return _as(pa.float64()) if is_.is_integer(kind) or is_.is_float32(kind) else None
    if found[2]:
        wider = is_.is_date(kind) or (is_.is_timestamp(kind) and kind.tz is None and kind.unit == "us")
        return _as(pa.timestamp(found[2].replace("µ", "u"))) if wider else None
    wanted = pa.decimal128(int(found[3]), int(found[4]))
    return _as(wanted) if is_.is_integer(kind) or (is_.is_decimal(kind) and wanted.scale >= kind.scale) else None


def _as(kind: pa.DataType) -> Image:
    """Returns a cast that keeps the value, or rounds it to the nearest number."""
    safe = not is_.is_floating(kind)  # an integer may have no exact double
    return Image(kind, lambda known: Range(known.least.cast(kind, safe=safe), known.greatest.cast(kind, safe=safe)))


def _date(kind: pa.DataType) -> Image:
    """Returns the cast to a date. No zone is more than a day ahead of UTC, or behind it."""
    slack = _DAY if kind.tz is not None else timedelta()
    return Image(
        pa.date32(),
        lambda known: Range(
            _floor(_moved(known.least, -slack), "day").cast(pa.date32()),
            _floor(_moved(known.greatest, slack), "day").cast(pa.date32()),
        ),
    )


def _truncated(written: Predicate, kind: pa.DataType) -> Image | None:
    unit = str(written.value).lower() if isinstance(written, Literal) else ""
    if unit not in _UNITS or not is_.is_timestamp(kind):
        return None
    if kind.tz is None:
        return Image(kind, lambda known: Range(_floor(known.least, unit), _floor(known.greatest, unit)))
    span = timedelta(days=_SPANS.get(unit, 1)) + _DAY
    return Image(kind, lambda known: Range(_moved(known.least, -span), _moved(known.greatest, _DAY)))


def _floor(times: pa.Array, unit: str) -> pa.Array:
    return pc.floor_temporal(_within_calendar(times), unit=unit)


def _moved(times: pa.Array, by: timedelta) -> pa.Array:
    return pc.add(_within_calendar(times), pa.scalar(by, pa.duration(times.type.unit)))


def _within_calendar(times: pa.Array) -> pa.Array:
    """Replaces times out of range by NULL: Arrow would compute wrong results for them without an error."""
    far, numbers = _FAR[times.type.unit], times.cast(pa.int64())
    return pc.if_else(pc.and_(pc.greater(numbers, -far), pc.less(numbers, far)), times, None)
