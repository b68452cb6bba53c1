"""Converts columns of text to values of a type, and finds values that do not fit.

`from_text` handles values that Arrow's CSV reader does not: decimals, custom date formats, values that do not fit.
`guess_type` detects the common type of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

TRUE = ("true", "True", "TRUE", "t", "T", "1", "yes", "Yes", "YES", "y", "Y", "on", "On", "ON")
FALSE = ("false", "False", "FALSE", "f", "F", "0", "no", "No", "NO", "n", "N", "off", "Off", "OFF")

_WHOLE = r"^\s*-?(0|[1-9][0-9]*)\s*$"
_NUMBER = r"^\s*-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_NO_NUMBER = r"^\s*-?(?i:nan|inf|infinity)\s*$"
_STAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_NANOS = r"\.[0-9]{7,9}"


@dataclass(frozen=True, slots=True)
class Forms:
    """Formats of dates and timestamps other than ISO; `zone` applies to timestamps without one."""

    date: str | None = None
    timestamp: str | None = None
    zone: str = "UTC"

    def of(self, target: pa.DataType) -> str | None:
        if is_.is_date(target):
            return self.date
        return self.timestamp if is_.is_timestamp(target) else None


def is_native(target: pa.DataType, forms: Forms) -> bool:
    """Returns whether Arrow's CSV reader converts to this type by the same rules."""
    plain = is_.is_boolean(target) or is_.is_integer(target) or is_.is_floating(target) or is_.is_temporal(target)
    return bool(target == pa.string() or (plain and forms.of(target) is None and not is_.is_duration(target)))


def from_text(texts: pa.Array, target: pa.DataType, forms: Forms) -> pa.Array:
    """Converts text; empty text is NULL, except for string types. Raises ArrowInvalid or ValueError if a value does not
    fit.
    """
    if is_.is_string(target):
        return texts
    if is_.is_binary(target) or is_.is_fixed_size_binary(target):
        return _bytes(texts).cast(target)
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    form = forms.of(target)
    if form is not None:
        return _with_form(texts, form, target, forms)
    if is_.is_boolean(target):
        return _boolean(texts)
    if is_.is_decimal(target):
        return _decimal(texts, target)
    if is_.is_timestamp(target) and target.tz is not None:
        return _zoned(texts, target, forms.zone)
    if is_.is_time(target):
        return pc.binary_join_element_wise("1970-01-01", texts, " ").cast(pa.timestamp("ns")).cast(target)
    return pc.replace_substring_regex(texts, r"^\+", "").cast(target)


def misfits(texts: pa.Array, target: pa.DataType, forms: Forms) -> Iterator[int]:
    """Yields the positions of text that is not a value of the type."""
    stretches = [(0, len(texts))]
    while stretches:
        start, end = stretches.pop()
        try:
            from_text(texts[start:end], target, forms)
        except (pa.ArrowException, ValueError):
            if end - start == 1:
                yield start
            else:
                middle = (start + end) // 2
                stretches += [(middle, end), (start, middle)]


def _bytes(texts: pa.Array) -> pa.Array:
    r"""Returns the bytes of text; after `\x`, each byte has two hex digits, as written by COPY … TO and PostgreSQL."""
    if not pc.any(pc.starts_with(texts, "\\x")).as_py():
        return texts.cast(pa.binary())
    values = ((text, text is not None and text.startswith("\\x")) for text in texts.to_pylist())
    found = [bytes.fromhex(text[2:]) if in_hex else text and text.encode() for text, in_hex in values]
    return pa.array(found, pa.binary())


def _boolean(texts: pa.Array) -> pa.Array:
    true, false = pc.is_in(texts, pa.array(TRUE)), pc.is_in(texts, pa.array(FALSE))
    if not pc.all(pc.or_(pc.or_(true, false), texts.is_null())).as_py():
        raise ValueError("it is neither true nor false")
    return pc.if_else(texts.is_null(), pa.scalar(None, pa.bool_()), true)


def _decimal(texts: pa.Array, target: pa.DataType) -> pa.Array:
    """Converts to decimal; extra digits are rounded, half away from zero, as in CAST."""
    exact = pc.replace_substring_regex(texts, r"^\+", "").cast(pa.decimal256(76, 37))
    return pc.round(exact, target.scale, "half_towards_infinity").cast(target)


def _zoned(texts: pa.Array, target: pa.DataType, zone: str) -> pa.Array:
    """Converts timestamps with a zone or offset, and those without, which are in the session's zone."""
    named = pc.match_substring_regex(texts, _ZONE)
    none = pa.scalar(None, pa.string())
    utc = pa.timestamp(target.unit, "UTC")
    own = pc.if_else(named, texts, none).cast(utc)
    other = pc.if_else(named, none, texts).cast(pa.timestamp(target.unit))
    local = pc.assume_timezone(other, zone, ambiguous="earliest", nonexistent="latest").cast(utc)
    return pc.coalesce(own, local).cast(target)


def _with_form(texts: pa.Array, form: str, target: pa.DataType, forms: Forms) -> pa.Array:
    """Parses each distinct text by Python's strptime: Arrow's accepts the 31st of February as a day in March."""
    coded = texts.dictionary_encode()
    moments = [datetime.strptime(text, form) for text in coded.dictionary.to_pylist()]
    if is_.is_date(target):
        values = pa.array([moment.date() for moment in moments], target)
    elif target.tz is None:
        values = pa.array([moment.replace(tzinfo=None) for moment in moments], target)
    else:
        values = _in_zone(moments, target, forms.zone)
    return values.take(coded.indices)


def _in_zone(moments: list[datetime], target: pa.DataType, zone: str) -> pa.Array:
    naive = pa.array([m.replace(tzinfo=None) for m in moments], pa.timestamp(target.unit))
    if moments and moments[0].tzinfo is not None:
        return pa.array(moments, pa.timestamp(target.unit, "UTC")).cast(target)
    return pc.assume_timezone(naive, zone, ambiguous="earliest", nonexistent="latest").cast(target)


# --- type detection ----------------------------------------------------------------------------------------------


def guess_type(texts: pa.ChunkedArray, forms: Forms) -> pa.DataType:
    """Returns the narrowest type of all texts; VARCHAR if there is no other, or no text.

    Text that would not round-trip stays text: 007, +41, 1,5. Integers too long for BIGINT are DECIMAL(38,0).
    """
    given = texts.drop_null()
    given = given.filter(pc.not_equal(given, ""))
    if not len(given):
        return pa.string()
    if _all(given, r"^(?i:true|false)$"):
        return pa.bool_()
    if _all(given, _WHOLE):
        return _whole(given)
    if _all(given, f"{_NUMBER}|{_NO_NUMBER}") and pc.any(pc.match_substring_regex(given, _NUMBER)).as_py():
        return pa.float64()
    return next((t for t in _times(given, forms) if _fit(given, t, forms)), pa.string())


def common_guess(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """Returns the type of texts of which some were guessed to be of one type, and the others of another."""
    if a == b:
        return a
    numbers = (pa.int64(), pa.decimal128(38, 0), pa.float64())
    if a in numbers and b in numbers:
        return max(a, b, key=numbers.index)
    if is_.is_timestamp(a) and is_.is_timestamp(b) and a.tz == b.tz:
        return pa.timestamp("ns", a.tz)
    return pa.string()


def _whole(given: pa.ChunkedArray) -> pa.DataType:
    for t in (pa.int64(), pa.decimal128(38, 0)):
        if _fit(given, t, Forms()):
            return t
    return pa.string()


def _times(given: pa.ChunkedArray, forms: Forms) -> Iterator[pa.DataType]:
    if forms.date is not None or _all(given, r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"):
        yield pa.date32()
    if _all(given, r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"):
        yield pa.time64("us")
    unit = "ns" if pc.any(pc.match_substring_regex(given, _NANOS)).as_py() else "us"
    if forms.timestamp is not None or _all(given, _STAMP + "$"):
        yield pa.timestamp(unit)
    if _all(given, _STAMP + _ZONE):
        yield pa.timestamp(unit, forms.zone)


def _all(given: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(given, pattern)).as_py())


def _fit(given: pa.ChunkedArray, target: pa.DataType, forms: Forms) -> bool:
    try:
        for chunk in given.chunks:
            from_text(chunk, target, forms)
    except (pa.ArrowException, ValueError):
        return False
    return True
