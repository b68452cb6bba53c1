"""Bounds of columns: never wrong, whatever the values; shortened as far as they may be."""

from __future__ import annotations

import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg import types as ice
from pyiceberg.conversions import from_bytes, to_bytes

from pinakes.engine.iceberg.write.parquet import bounds

LENGTHS = st.one_of(st.none(), st.integers(1, 5))
HIGH = st.text(st.sampled_from("a\x7f\u07ff\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=8)


@given(st.one_of(st.text(max_size=12), HIGH), LENGTHS)
def test_texts_lie_between_their_bounds(text: str, length: int | None) -> None:
    raw = text.encode()
    least, greatest = (f(ice.StringType(), raw, length) for f in (bounds.lower, bounds.upper))
    assert least is not None
    assert least <= raw
    assert greatest is None or greatest >= raw
    for bound in filter(None, (least, greatest)):
        assert length is None or len(bound.decode()) <= length


@given(st.binary(max_size=12), LENGTHS)
def test_bytes_lie_between_their_bounds(value: bytes, length: int | None) -> None:
    least, greatest = (f(ice.BinaryType(), value, length) for f in (bounds.lower, bounds.upper))
    assert least is not None
    assert least <= value
    assert value.startswith(least)
    assert greatest is None or (greatest >= value and (length is None or len(greatest) <= length))
    if greatest is None:
        assert value.startswith(b"\xff" * (length or 0))


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abd"),
        ("ab\U0010ffffd", 3, "ac"),
        ("\U0010ffff\U0010ffffx", 2, None),
        ("\ud7ffx", 1, "\ue000"),  # what comes between is no character
        ("aü€", 2, "aý"),
        ("", 1, ""),
    ],
)
def test_an_upper_bound_is_the_least_longer_one(text: str, length: int, expected: str | None) -> None:
    assert bounds.raised_text(text, length) == expected


def test_bytes_that_can_not_be_raised_have_no_upper_bound() -> None:
    assert bounds.raised_bytes(b"\xff\xff\xff", 2) is None
    assert bounds.raised_bytes(b"\x01\xff\xff", 2) == b"\x02"


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_decimals_are_unscaled_numbers_as_pyiceberg_has_them(number: int, scale: int) -> None:
    kind = ice.DecimalType(38, scale)
    value = Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))
    assert bounds.unscaled(number) == to_bytes(kind, value)
    wide = number.to_bytes(16, "big", signed=True)
    assert bounds.plain(kind, wide) == bounds.plain(kind, number)
    assert from_bytes(kind, bounds.unscaled(number)) == value


@pytest.mark.parametrize(("kind", "form"), [(ice.FloatType(), "<f"), (ice.DoubleType(), "<d")])
def test_nan_is_no_bound(kind: ice.IcebergType, form: str) -> None:
    assert bounds.lower(kind, float("nan"), None) is None
    assert bounds.upper(kind, -0.0, None) == struct.pack(form, -0.0)
