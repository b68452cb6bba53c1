"""Converts a bound from Parquet's statistics to Iceberg's format.

A lower bound may be truncated: a prefix is never greater. A truncated upper bound must not become less than the value,
so its last character (or byte) that can be incremented is incremented; if none can, there is no bound. Characters are
code points, which define the order of strings; the surrogates 0xD800 to 0xDFFF are skipped.
"""

from __future__ import annotations

import math
from typing import Any

from pyiceberg import types as ice
from pyiceberg.conversions import to_bytes

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def lower(kind: ice.IcebergType, raw: Any, length: int | None) -> bytes | None:
    """Returns the minimum as a bound; None if it cannot be one."""
    if isinstance(kind, ice.StringType):
        return _text(raw)[:length].encode()
    if isinstance(kind, ice.BinaryType):
        return bytes(raw[:length])
    return plain(kind, raw)


def upper(kind: ice.IcebergType, raw: Any, length: int | None) -> bytes | None:
    """Returns the maximum as a bound; None if it cannot be one."""
    if isinstance(kind, ice.StringType):
        text = raised_text(_text(raw), length)
        return None if text is None else text.encode()
    if isinstance(kind, ice.BinaryType):
        return raised_bytes(bytes(raw), length)
    return plain(kind, raw)


def plain(kind: ice.IcebergType, raw: Any) -> bytes | None:
    """Returns a bound that is never truncated. Decimals are unscaled numbers in the fewest possible bytes."""
    if isinstance(kind, ice.DecimalType):
        number = int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else int(raw)
        return unscaled(number)
    if isinstance(kind, ice.FloatType | ice.DoubleType) and math.isnan(raw):
        return None
    if isinstance(kind, ice.UUIDType | ice.FixedType):
        return bytes(raw)
    assert isinstance(kind, ice.PrimitiveType)
    return to_bytes(kind, raw)


def unscaled(number: int) -> bytes:
    magnitude = number if number >= 0 else -number - 1
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def raised_text(text: str, length: int | None) -> str | None:
    """Returns the text, or one of at most `length` characters that is greater than all with its prefix."""
    if length is None or len(text) <= length:
        return text
    for end in range(length, 0, -1):
        following = ord(text[end - 1]) + 1
        following = _SURROGATES.stop if following in _SURROGATES else following
        if following <= _LAST:
            return text[: end - 1] + chr(following)
    return None


def raised_bytes(value: bytes, length: int | None) -> bytes | None:
    """Returns the same for bytes."""
    if length is None or len(value) <= length:
        return value
    kept = value[:length].rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _text(raw: Any) -> str:
    return raw if isinstance(raw, str) else bytes(raw).decode()
