"""Arrow's kernels print what `core/output/value_format.py` prints, for every value of the types that they are asked
for."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.core.output.texts import PIECE_ROWS, json_texts, pieces, texts
from pinakes.core.output.value_format import as_json, as_text, plain

letters = st.text(st.characters(codec="utf-8"), max_size=8)
UNITS = st.sampled_from(["s", "ms", "us", "ns"])


def same(array: pa.Array) -> None:
    values = plain(array)
    assert texts(array).to_pylist() == [None if v is None else as_text(v) for v in values]
    assert json_texts(array).to_pylist() == [as_json(v) for v in values]


@given(st.lists(st.none() | st.floats()))
def test_floats(values: list[float | None]) -> None:
    same(pa.array(values, pa.float64()))


@given(st.lists(st.none() | st.floats(width=32)))
def test_short_floats(values: list[float | None]) -> None:
    same(pa.array(values, pa.float32()))


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1e-4, 9.999e-5, 1e10, 9999999999.0, 9999999999.5, 1e16, 5e-324, 1.7976931348623157e308]
)
def test_floats_where_exponents_begin(value: float) -> None:
    same(pa.array([value, -value, None]))


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)), UNITS, st.sampled_from([None, "UTC", "Europe/Paris"]))
def test_timestamps_at_any_time(values: list[int | None], unit: str, zone: str | None) -> None:
    same(pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone)))


@given(st.lists(st.none() | st.integers(-(10**15), 10**15)), UNITS, st.sampled_from([None, "UTC"]))
def test_timestamps_near_our_time(values: list[int | None], unit: str, zone: str | None) -> None:
    same(pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone)))


@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)))
def test_dates(values: list[int | None]) -> None:
    same(pa.array(values, pa.int32()).cast(pa.date32()))


@given(st.lists(st.none() | letters), st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
def test_letters(values: list[str | None], kind: pa.DataType) -> None:
    same(pa.array(values, kind))


@given(st.lists(st.none() | st.integers(-(10**19), 10**19)), st.sampled_from([(20, 0), (20, 2), (38, 7), (38, 18)]))
def test_decimals(values: list[int | None], shape: tuple[int, int]) -> None:
    same(pa.array([None if v is None else Decimal(v).scaleb(-shape[1]) for v in values], pa.decimal128(*shape)))


@pytest.mark.parametrize(
    "array",
    [
        pa.nulls(2),
        pa.array([True, None, False]),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array([b"\x00\xff", None]),
        pa.array([[1, None], None, []]),
        pa.array([{"a": 'q"\n', "b": [1.0]}, None]),
        pa.array([[("k", None)], None], pa.map_(pa.string(), pa.float64())),
        pa.array(["x", None, "x"]).dictionary_encode(),
        pa.array([b"0123456789abcdef", None], pa.uuid()),
        pa.array([(14, -3, 4_000), None], pa.month_day_nano_interval()),
        pa.array([5, None], pa.int64()).cast(pa.duration("us")),
        pa.array([1, None], pa.int64()).cast(pa.time64("ns")),
        pa.array([1.5, float("inf"), None], pa.float16()),
        pa.array([], pa.int8()),
    ],
    ids=lambda array: str(array.type),
)
def test_every_other_type(array: pa.Array) -> None:
    same(array)
    same(array[1:])


def test_an_offset_of_hours_minutes_and_seconds() -> None:
    """Amsterdam was 19 minutes and 32 seconds ahead, before zones were round."""
    array = pa.array([-(10**9) * 2], pa.int64()).cast(pa.timestamp("s", "Europe/Amsterdam"))
    assert texts(array).to_pylist()[0] in ("1906-08-16T20:46:12+00:19:32", "1906-08-16T20:44:10+00:17:30")


def test_pieces_are_small_and_lose_nothing() -> None:
    batch = pa.record_batch({"a": list(range(3 * PIECE_ROWS + 1)), "b": ["x" * 100] * (3 * PIECE_ROWS + 1)})
    parts = list(pieces(batch))
    assert max(part.num_rows for part in parts) == PIECE_ROWS
    assert pa.Table.from_batches(parts) == pa.Table.from_batches([batch])
    wide = pa.record_batch({"a": ["x" * (1 << 20)] * 100})
    assert [part.num_rows for part in pieces(wide)] == [64, 36]
