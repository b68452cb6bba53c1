"""What goes over the wire in place of what: every value is kept, whatever the client."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from pinakes.flight.wire_types import Client, conformed, parameter_type

ANY, JAVA = Client(), Client.of("grpc-java-netty/1.71.0")
MOMENT = datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC)


def sent(array: pa.Array, client: Client = ANY) -> pa.Array:
    batch = pa.record_batch([array], names=["x"])
    return conformed(batch, client.schema(batch.schema)).column(0)


@pytest.mark.parametrize(
    ("array", "type", "values"),
    [
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
        (pa.array([b"a", None], pa.binary_view()), pa.binary(), [b"a", None]),
        (pa.array(["a", "b", None, "a"]).dictionary_encode(), pa.string(), ["a", "b", None, "a"]),
        (pa.array([255, None], pa.uint8()), pa.int16(), [255, None]),
        (pa.array([65_535], pa.uint16()), pa.int32(), [65_535]),
        (pa.array([2**32 - 1], pa.uint32()), pa.int64(), [2**32 - 1]),
        (pa.array([2**64 - 1, None], pa.uint64()), pa.decimal128(20, 0), [Decimal(2**64 - 1), None]),
        (pa.array([Decimal("1.5")], pa.decimal32(5, 2)), pa.decimal128(5, 2), [Decimal("1.50")]),
        (pa.array([Decimal("1.5")], pa.decimal64(15, 2)), pa.decimal128(15, 2), [Decimal("1.50")]),
        (pa.array([["a"], None], pa.list_(pa.string_view())), pa.list_(pa.string()), [["a"], None]),
        (pa.array([{"a": 200}], pa.struct([("a", pa.uint8())])), pa.struct([("a", pa.int16())]), [{"a": 200}]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.uint8())), pa.map_(pa.string(), pa.int16()), [[("k", 1)]]),
        (pa.array([1, None], pa.int64()), pa.int64(), [1, None]),
    ],
)
def test_each_value_is_kept(array: pa.Array, type: pa.DataType, values: list[object]) -> None:
    assert sent(array).type == type
    assert sent(array).to_pylist() == values


def test_half_floats_are_widened() -> None:
    import numpy

    assert sent(pa.array(numpy.array([1.5], "float16"))).to_pylist() == [1.5]


def test_run_ends_and_extensions_are_plain() -> None:
    import pyarrow.compute as pc

    encoded = pc.run_end_encode(pa.array([1, 1, 2]))
    assert sent(encoded).to_pylist() == [1, 1, 2]
    identifiers = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"], pa.binary(16)))
    assert sent(identifiers).type == pa.binary(16)


def test_times_keep_their_zone_unless_the_client_is_java() -> None:
    array = pa.array([MOMENT], pa.timestamp("us", tz="Europe/Berlin"))
    assert sent(array).type == pa.timestamp("us", tz="Europe/Berlin")
    assert sent(array, JAVA).type == pa.timestamp("us")
    assert sent(array, JAVA).to_pylist() == [MOMENT.replace(tzinfo=None)]


def test_only_java_gets_the_types() -> None:
    schema = pa.schema([("d", pa.decimal128(10, 2))])
    assert ANY.schema(schema).field("d").metadata is None
    told = JAVA.schema(schema).field("d").metadata
    assert told[b"ARROW:FLIGHT:SQL:PRECISION"] == b"10"
    assert told[b"ARROW:FLIGHT:SQL:SCALE"] == b"2"
    assert b"ARROW:FLIGHT:SQL:REMARKS" not in told


def test_parameters_of_unknown_type_are_texts_and_times_are_in_milliseconds() -> None:
    assert parameter_type(pa.null()) == pa.string()
    assert parameter_type(pa.timestamp("ns", tz="UTC")) == pa.timestamp("ms")
    assert parameter_type(pa.time64("us")) == pa.time32("ms")
    assert parameter_type(pa.int32()) == pa.int32()


def test_a_change_without_a_count_is_none_for_java() -> None:
    """-1 would make the driver run it again."""
    assert (ANY.uncounted, JAVA.uncounted) == (-1, 0)
