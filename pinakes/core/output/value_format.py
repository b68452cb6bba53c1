"""Converts Arrow values to plain values for all output formats and views of results.

Numbers and booleans stay, decimals stay exact, times become ISO 8601 texts, binary becomes hex, lists become lists,
structs and maps become dicts. NULL is None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal

import pyarrow as pa

_EPOCH = datetime(1970, 1, 1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def rows(batch: pa.RecordBatch) -> Iterator[tuple[object, ...]]:
    """Yields the rows of a batch as plain values."""
    if batch.num_columns == 0:
        return iter([()] * batch.num_rows)
    return zip(*(plain(column) for column in batch.columns), strict=True)


def plain(array: pa.Array) -> list[object]:
    """Returns the values of an array as plain values."""
    kind: pa.DataType = array.type
    if isinstance(kind, pa.DictionaryType):
        return plain(array.dictionary_decode())
    if isinstance(kind, pa.BaseExtensionType):
        return [v if v is None else str(v) for v in array.to_pylist()] if _is_uuid(kind) else plain(array.storage)
    if pa.types.is_struct(kind):
        return _structs(array)
    if pa.types.is_map(kind):
        return [_object(plain(m.values)) if m.is_valid else None for m in array]
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        return [plain(item.values) if item.is_valid else None for item in array]
    return _flat(array, kind)


def as_text(value: object) -> str:
    """Returns a plain value as text; nested values as JSON. The caller handles NULL."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _float(value)
        case Decimal():
            return f"{value:f}"
        case list() | dict():
            return as_json(value)
        case _:
            return str(value)


def as_json(value: object) -> str:
    """Returns a plain value as JSON: decimals, NaN and infinity as texts, so that no reader rounds them."""
    return json.dumps(_jsonable(value), ensure_ascii=False, separators=(",", ":"), default=str)


def _jsonable(value: object) -> object:
    match value:
        case float() if value != value or value in (float("inf"), float("-inf")):
            return _float(value)
        case Decimal():
            return f"{value:f}"
        case list():
            return [_jsonable(v) for v in value]
        case dict():
            return {k: _jsonable(v) for k, v in value.items()}
        case _:
            return value


def _float(value: float) -> str:
    if value != value:
        return "NaN"
    return repr(value).replace("inf", "Infinity")


def _is_uuid(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def _structs(array: pa.StructArray) -> list[object]:
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    columns = [plain(column) for column in array.flatten()]
    members = zip(*columns, strict=True) if columns else iter([()] * len(array))
    return [
        dict(zip(names, values, strict=True)) if valid else None
        for values, valid in zip(members, array.is_valid().to_pylist(), strict=True)
    ]


def _object(entries: list[object]) -> dict[str, object]:
    """Returns the entries of a map as an object; JSON keys are texts."""
    pairs = [tuple(e.values()) for e in entries if isinstance(e, dict)]
    return {as_text(key): value for key, value in pairs}


def _flat(array: pa.Array, kind: pa.DataType) -> list[object]:
    convert = _converter(kind)
    if convert is None:
        return list(array.to_pylist())
    return [None if v is None else convert(v) for v in _countable(array, kind).to_pylist()]


def _countable(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Returns times as integers, since Python's types have narrower limits; short floats as their shortest texts."""
    types = pa.types
    if types.is_date32(kind):
        return array.cast(pa.int32())
    if types.is_timestamp(kind) or types.is_date64(kind) or types.is_time64(kind) or types.is_duration(kind):
        return array.cast(pa.int64())
    return array.cast(pa.string()) if types.is_float16(kind) or types.is_float32(kind) else array


def _converter(kind: pa.DataType) -> Callable[[object], object] | None:
    """Returns the function that makes a Python value of this type plain; None if it is plain already."""
    types = pa.types
    if types.is_timestamp(kind):
        zone = _zone(kind.tz) if kind.tz else None
        return lambda v: _timestamp(v, _PER_SECOND[kind.unit], zone)  # type: ignore[arg-type]
    if types.is_time64(kind):
        return lambda v: _time(v, _PER_SECOND[kind.unit])  # type: ignore[arg-type]
    if types.is_duration(kind):
        return lambda v: _duration(v, _PER_SECOND[kind.unit])  # type: ignore[arg-type]
    if types.is_interval(kind):
        return lambda v: _interval(*v)  # type: ignore[misc]
    if types.is_date(kind):
        return lambda v: _date(v if types.is_date32(kind) else v // 86_400_000)  # type: ignore[operator, arg-type]
    if types.is_time32(kind):
        return str
    if types.is_float16(kind) or types.is_float32(kind):
        return float  # type: ignore[return-value]
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return lambda v: v.hex()  # type: ignore[attr-defined]
    return (lambda v: v.hex()) if types.is_binary_view(kind) else None  # type: ignore[attr-defined]


def _zone(name: str) -> tzinfo:
    """Returns a time zone by name or by offset (+02:00), in Arrow's spelling."""
    if name[0] in "+-":
        hours, minutes = name[1:].split(":") if ":" in name else (name[1:3], name[3:] or "0")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if name[0] == "-" else offset)
    from zoneinfo import ZoneInfo  # loaded only for zones

    return ZoneInfo(name)


def _timestamp(value: int, per_second: int, zone: tzinfo | None) -> str:
    """Formats a timestamp with integer arithmetic, since Python's datetime has no nanoseconds."""
    seconds, fraction = divmod(value, per_second)
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
        if zone is not None:
            moment = moment.replace(tzinfo=UTC).astimezone(zone)
    except OverflowError:  # beyond the years 1 to 9999: the count since 1970 is printed
        return f"{value}/{per_second}s"
    wall = moment.replace(tzinfo=None).isoformat()
    # Historical offsets include seconds, so the length varies.
    return wall + _digits(fraction, per_second) + moment.isoformat()[len(wall) :]


def _date(days: int) -> str:
    return _timestamp(days * 86_400, 1, None).removesuffix("T00:00:00")


def _time(value: int, per_second: int) -> str:
    seconds, fraction = divmod(value, per_second)
    return (_EPOCH + timedelta(seconds=seconds)).time().isoformat() + _digits(fraction, per_second)


def _digits(fraction: int, per_second: int) -> str:
    """Returns a fraction of a second without trailing zeros."""
    return "" if not fraction else "." + str(fraction).rjust(len(str(per_second)) - 1, "0").rstrip("0")


def _duration(value: int, per_second: int) -> str:
    return _iso_period(0, 0, value, per_second)


def _interval(months: int, days: int, nanoseconds: int) -> str:
    return _iso_period(months, days, nanoseconds, 10**9)


def _iso_period(months: int, days: int, units: int, per_second: int) -> str:
    """Formats ISO 8601: P1Y2M3DT4H5M6.7S; a negative part has its own sign."""
    sign = "-" if units < 0 else ""
    seconds, fraction = divmod(abs(units), per_second)
    years, months = (abs(months) // 12 * _sign(months), abs(months) % 12 * _sign(months))
    day = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    clock = "".join(f"{sign}{n}{unit}" for n, unit in ((seconds // 3600, "H"), (seconds // 60 % 60, "M")) if n)
    if seconds % 60 or fraction:
        clock += f"{sign}{seconds % 60}{_digits(fraction, per_second)}S"
    return f"P{day}T{clock}" if clock else f"P{day}" if day else "PT0S"


def _sign(number: int) -> int:
    return -1 if number < 0 else 1
