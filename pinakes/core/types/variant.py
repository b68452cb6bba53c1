"""Iceberg's type `variant`, and its values as JSON text.

A value consists of two byte strings: `metadata` has the names of all fields, `value` the value, which refers to them by
number (VariantEncoding.md of the Parquet format). JSON has no dates, times or bytes: they are texts here, as in Spark's
to_json.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Literal
from uuid import UUID

import pyarrow as pa
from pydantic import Field
from pyiceberg.typedef import TableVersion
from pyiceberg.types import PrimitiveType

from pinakes.core.errors import NotSupportedError

_EPOCH = datetime(1970, 1, 1)
_INTEGERS = {3: 1, 4: 2, 5: 4, 6: 8}
_DECIMALS = {8: 4, 9: 8, 10: 16}
_MOMENTS = {12: ("us", True), 13: ("us", False), 18: ("ns", True), 19: ("ns", False)}


class VariantType(PrimitiveType):
    """The variant type, which pyiceberg 0.12 lacks."""

    root: Literal["variant"] = Field(default="variant")

    def minimum_format_version(self) -> TableVersion:
        return 3


def as_json(column: pa.Array, name: str) -> pa.Array:
    """Converts a column of variants, in Parquet's layout, to JSON texts."""
    storage = column.storage if isinstance(column, pa.ExtensionArray) else column
    fields = [f.name for f in storage.type]
    if "typed_value" in fields:
        raise NotSupportedError(
            f"column {name} has variants whose fields are columns of their own (shredded), which are not read here. "
            f"Read it with Spark, or leave the column out"
        )
    pairs = zip(storage.field("metadata").to_pylist(), storage.field("value").to_pylist(), strict=True)
    known = storage.is_valid().to_pylist()
    texts = [variant_json(m, v) if is_known else None for is_known, (m, v) in zip(known, pairs, strict=True)]
    return pa.array(texts, pa.string())


def variant_json(metadata: bytes, value: bytes) -> str:
    """Converts one value to JSON."""
    try:
        return "".join(_written(value, 0, _names(metadata)))
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"a variant can't be read: {error}") from error


def _names(metadata: bytes) -> list[str]:
    if metadata[0] & 0x0F != 1:
        raise ValueError(f"a variant has the version {metadata[0] & 0x0F}; 1 is known")
    size = (metadata[0] >> 6) + 1
    count = _unsigned(metadata, 1, size)
    at = 1 + size
    ends = [_unsigned(metadata, at + size * i, size) for i in range(count + 1)]
    start = at + size * (count + 1)
    return [metadata[start + a : start + b].decode() for a, b in pairwise(ends)]


def _written(data: bytes, at: int, names: list[str]) -> Iterator[str]:
    kind, header = data[at] & 3, data[at] >> 2
    if kind == 0:
        yield _primitive(data, at + 1, header)
    elif kind == 1:
        yield _text(data[at + 1 : at + 1 + header].decode())
    elif kind == 2:
        yield from _object(data, at + 1, header, names)
    else:
        yield from _array(data, at + 1, header, names)


def _object(data: bytes, at: int, header: int, names: list[str]) -> Iterator[str]:
    size, id_size = (header & 3) + 1, (header >> 2 & 3) + 1
    count, at = _count(data, at, is_large=bool(header >> 4 & 1))
    offsets = at + id_size * count
    values = offsets + size * (count + 1)
    yield "{"
    for i in range(count):
        name = names[_unsigned(data, at + id_size * i, id_size)]
        yield f"{', ' if i else ''}{_text(name)}: "
        yield from _written(data, values + _unsigned(data, offsets + size * i, size), names)
    yield "}"


def _array(data: bytes, at: int, header: int, names: list[str]) -> Iterator[str]:
    size = (header & 3) + 1
    count, at = _count(data, at, is_large=bool(header >> 2 & 1))
    values = at + size * (count + 1)
    yield "["
    for i in range(count):
        yield ", " if i else ""
        yield from _written(data, values + _unsigned(data, at + size * i, size), names)
    yield "]"


def _primitive(data: bytes, at: int, kind: int) -> str:
    if kind in (0, 1, 2):
        return ("null", "true", "false")[kind]
    if kind in _INTEGERS:
        return str(_signed(data, at, _INTEGERS[kind]))
    if kind in (7, 14):
        (number,) = struct.unpack_from("<d" if kind == 7 else "<f", data, at)
        return _floating(number, is_double=kind == 7)
    if kind in _DECIMALS:
        number = _signed(data, at + 1, _DECIMALS[kind])
        digits = tuple(map(int, str(abs(number))))
        return f"{Decimal((number < 0, digits, -data[at])):f}"
    if kind in (15, 16):
        piece = data[at + 4 : at + 4 + _unsigned(data, at, 4)]
        return _text(piece.decode() if kind == 16 else base64.b64encode(piece).decode())
    return _text(_other(data, at, kind))


def _other(data: bytes, at: int, kind: int) -> str:
    if kind == 11:
        return str(date(1970, 1, 1) + timedelta(days=_signed(data, at, 4)))
    if kind in _MOMENTS:
        unit, zoned = _MOMENTS[kind]
        return _moment(_signed(data, at, 8), unit, zoned=zoned)
    if kind == 17:
        return _trimmed(str((_EPOCH + timedelta(microseconds=_signed(data, at, 8))).time()))
    if kind == 20:
        return str(UUID(bytes=data[at : at + 16]))
    raise ValueError(f"a variant has a value of the kind {kind}, which is not known")


def _moment(count: int, unit: str, *, zoned: bool) -> str:
    per_second = 1_000_000 if unit == "us" else 1_000_000_000
    seconds, rest = divmod(count, per_second)
    whole = _EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:0{len(str(per_second)) - 1}d}" if rest else ""
    zone = "+00:00" if zoned else ""
    return _trimmed(f"{whole.isoformat(' ')}{fraction}") + zone


def _trimmed(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def _floating(number: float, *, is_double: bool) -> str:
    if not math.isfinite(number):
        return _text("NaN" if number != number else "Infinity" if number > 0 else "-Infinity")
    return repr(number) if is_double else str(pa.scalar(number, pa.float32()).cast(pa.string()).as_py())


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _count(data: bytes, at: int, *, is_large: bool) -> tuple[int, int]:
    size = 4 if is_large else 1
    return _unsigned(data, at, size), at + size


def _unsigned(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_piece(data, at, size), "little")


def _signed(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(_piece(data, at, size), "little", signed=True)


def _piece(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError("it is cut off")
    return data[at : at + size]
