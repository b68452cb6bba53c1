"""Variants as JSON: the examples of the format, byte by byte."""

from __future__ import annotations

import struct
import uuid

import pyarrow as pa
import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.core.types.variant import as_json, variant_json

EMPTY = b"\x01\x00\x00"
NAMES = b"\x11\x02\x00\x01\x03" + b"a" + b"bc"
"""Sorted: a, bc."""


def primitive(kind: int, data: bytes = b"") -> bytes:
    return bytes([kind << 2]) + data


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (primitive(0), "null"),
        (primitive(1), "true"),
        (primitive(2), "false"),
        (primitive(3, b"\xff"), "-1"),
        (primitive(4, struct.pack("<h", -300)), "-300"),
        (primitive(5, struct.pack("<i", 70000)), "70000"),
        (primitive(6, struct.pack("<q", -(2**63))), "-9223372036854775808"),
        (primitive(7, struct.pack("<d", 1e300)), "1e+300"),
        (primitive(7, struct.pack("<d", float("nan"))), '"NaN"'),
        (primitive(14, struct.pack("<f", 0.1)), "0.1"),
        (primitive(8, b"\x02" + struct.pack("<i", -110)), "-1.10"),
        (primitive(9, b"\x00" + struct.pack("<q", 5)), "5"),
        (primitive(10, b"\x03" + (10**37).to_bytes(16, "little", signed=True)), "1" + "0" * 34 + ".000"),
        (primitive(11, struct.pack("<i", -1)), '"1969-12-31"'),
        (primitive(12, struct.pack("<q", 1_500_000)), '"1970-01-01 00:00:01.5+00:00"'),
        (primitive(13, struct.pack("<q", -1)), '"1969-12-31 23:59:59.999999"'),
        (primitive(15, struct.pack("<I", 2) + b"\x00\xff"), '"AP8="'),
        (primitive(16, struct.pack("<I", 4) + b'\xc3\x9f"x'), '"ß\\"x"'),
        (primitive(17, struct.pack("<q", 3_600_000_001)), '"01:00:00.000001"'),
        (primitive(19, struct.pack("<q", 1)), '"1970-01-01 00:00:00.000000001"'),
        (primitive(20, uuid.UUID(int=1).bytes), '"00000000-0000-0000-0000-000000000001"'),
        (bytes([2 << 2 | 1]) + b"hi", '"hi"'),
        (b"\x03\x00\x00", "[]"),
        (b"\x02\x00\x00", "{}"),
        (b"\x03\x02\x00\x02\x04" + primitive(3, b"\x01") + primitive(3, b"\x02"), "[1, 2]"),
    ],
)
def test_values(value: bytes, text: str) -> None:
    assert variant_json(EMPTY, value) == text


def test_fields_may_stand_in_another_order_than_their_values() -> None:
    value = b"\x02\x02" + b"\x00\x01" + b"\x01\x00\x03" + primitive(0) + primitive(3, b"\x07")
    assert variant_json(NAMES, value) == '{"a": 7, "bc": null}'


@pytest.mark.parametrize("value", [b"", primitive(5, b"\x00"), primitive(31), b"\x03\x05"])
def test_what_is_no_variant(value: bytes) -> None:
    with pytest.raises(ValueError, match="variant"):
        variant_json(EMPTY, value)


def test_columns() -> None:
    column = pa.array([{"metadata": EMPTY, "value": primitive(1)}, None])
    assert as_json(column, "v").to_pylist() == ["true", None]
    shredded = pa.array([{"metadata": EMPTY, "value": None, "typed_value": 1}])
    with pytest.raises(NotSupportedError, match="column v has variants whose fields are columns"):
        as_json(shredded, "v")
