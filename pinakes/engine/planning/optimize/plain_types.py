"""The types of columns that rows can be kept with: numbers, texts, times."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from pyarrow import types as is_

_TEXTS = (is_.is_string, is_.is_string_view)
_BYTES = (is_.is_binary, is_.is_binary_view)
_NUMBERS = (is_.is_boolean, is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_date, is_.is_time, is_.is_timestamp)


def is_plain(t: pa.DataType) -> bool:
    """What a scan of files can stand for as it is."""
    return any(holds(t) for holds in (*_TEXTS, *_BYTES, *_NUMBERS))


def any_value(field: pa.Field) -> pa.Scalar:
    """A value that the field may have: NULL if it can."""
    t = field.type
    if field.nullable:
        return pa.scalar(None, t)
    if any(holds(t) for holds in _TEXTS):
        return pa.scalar("", t)
    if any(holds(t) for holds in _BYTES):
        return pa.scalar(b"", t)
    return pa.scalar(Decimal(0), t) if is_.is_decimal(t) else pa.array([0]).cast(_whole(t)).cast(t)[0]


def _whole(t: pa.DataType) -> pa.DataType:
    """The whole numbers that can be cast to the type."""
    return pa.int32() if is_.is_date32(t) or is_.is_time32(t) else pa.int64()
