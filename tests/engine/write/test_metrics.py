"""What a manifest tells of a file, against the truth in its rows and against what pyiceberg finds in the same file."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)

from pinakes.core.types.iceberg_arrow import arrow_schema_of
from tests.engine.write.support import bound, footer, metadata_of, offsets, schema_of, written

TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
VALUES: dict[ice.IcebergType, st.SearchStrategy[Any]] = {
    ice.BooleanType(): st.booleans(),
    ice.IntegerType(): st.integers(-(2**31), 2**31 - 1),
    ice.LongType(): st.integers(-(2**63), 2**63 - 1),
    ice.FloatType(): st.floats(width=32),
    ice.DoubleType(): st.floats(),
    ice.DecimalType(9, 2): st.decimals(-9999999, 9999999, places=2),
    ice.DecimalType(18, 3): st.decimals(-(10**14), 10**14, places=3),
    ice.DecimalType(38, 4): st.decimals(-(10**20), 10**20, places=4),
    ice.DateType(): st.dates(date(1, 1, 2), date(9999, 12, 30)),
    ice.TimeType(): st.times(),
    ice.TimestampType(): TIMES,
    ice.StringType(): st.text(max_size=30),
    ice.UUIDType(): st.uuids().map(str),
    ice.FixedType(3): st.binary(min_size=3, max_size=3),
    ice.BinaryType(): st.binary(max_size=30),
}


def column(schema: Any, values: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, arrow_schema_of(schema).field(0).type)], ["c1"])


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_counts_and_bounds_are_those_of_the_rows(kind: ice.PrimitiveType, tmp_path: Path) -> None:
    schema = schema_of(kind)
    limit = {"write.parquet.row-group-limit": "3", "write.metadata.metrics.default": "full"}
    metadata = metadata_of(tmp_path, schema, limit)

    @settings(max_examples=15, deadline=None)
    @given(st.lists(st.one_of(st.none(), VALUES[kind]), min_size=1, max_size=10))
    def check(values: list[Any]) -> None:
        (file,) = written(metadata, [column(schema, values)])
        known = [v for v in values if v is not None]
        nans = [v for v in known if isinstance(v, float) and math.isnan(v)]
        assert file.record_count == file.value_counts[1] == len(values)
        assert file.null_value_counts[1] == len(values) - len(known)
        assert file.nan_value_counts.get(1, 0) == len(nans)
        assert (1 in file.nan_value_counts) == isinstance(kind, ice.FloatType | ice.DoubleType)
        _check_bounds(kind, [v for v in known if v not in nans and v == v], file)

    check()


def _check_bounds(kind: ice.PrimitiveType, values: list[Any], file: Any) -> None:
    if not values:
        assert 1 not in file.lower_bounds
        assert 1 not in file.upper_bounds
        return
    least, greatest = bound(kind, file.lower_bounds[1]), bound(kind, file.upper_bounds[1])
    as_bound = _AS_BOUND.get(type(kind), lambda v: v)
    assert least == as_bound(min(values, key=_order))
    assert greatest == as_bound(max(values, key=_order))


def _order(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


_EPOCH = datetime(1970, 1, 1)
_AS_BOUND: dict[type, Callable[[Any], Any]] = {
    ice.DateType: lambda v: (v - _EPOCH.date()).days,
    ice.TimeType: lambda v: ((v.hour * 60 + v.minute) * 60 + v.second) * 1_000_000 + v.microsecond,
    ice.TimestampType: lambda v: (v - _EPOCH) // (datetime.resolution),
    ice.UUIDType: lambda v: UUID(v).bytes,
}


def test_pyiceberg_finds_the_same_in_the_file(tmp_path: Path) -> None:
    schema = schema_of(ice.LongType(), ice.StringType(), ice.DecimalType(12, 2), ice.DateType(), ice.BooleanType())
    metadata = metadata_of(tmp_path, schema, {"write.parquet.row-group-limit": "10"})
    rows = [(i - 50, f"name {i:040}", Decimal(i) / 4, date(2024, 1, 1 + i % 28), i % 3 == 0) for i in range(100)]
    arrow = arrow_schema_of(schema)
    batch = pa.RecordBatch.from_pylist([dict(zip(arrow.names, r, strict=True)) for r in rows], schema=arrow)
    (file,) = written(metadata, [batch])
    theirs = data_file_statistics_from_parquet_metadata(
        footer(file), compute_statistics_plan(schema, {}), parquet_path_to_id_mapping(schema)
    ).to_serialized_dict()
    del theirs["nan_value_counts"]  # which it does not know
    assert theirs == {name: getattr(file, name) for name in theirs}
    assert len(offsets(file)) == 10


@pytest.mark.parametrize(
    ("mode", "counts", "least", "greatest"),
    [
        ("none", False, None, None),
        ("counts", True, None, None),
        ("truncate(2)", True, b"aa", b"zz"),
        ("full", True, b"aaaaaaaaaaaaaaaaaaaa", b"zy" + b"z" * 18),
        (None, True, b"a" * 16, b"zy" + b"z" * 13 + b"{"),
    ],
)
def test_modes(tmp_path: Path, mode: str | None, counts: bool, least: bytes | None, greatest: bytes | None) -> None:
    schema = schema_of(ice.StringType())
    properties = {} if mode is None else {"write.metadata.metrics.column.c1": mode}
    (file,) = written(metadata_of(tmp_path, schema, properties), [column(schema, ["a" * 20, "zy" + "z" * 18])])
    assert (1 in file.value_counts, 1 in file.null_value_counts, 1 in file.column_sizes) == (counts, counts, True)
    assert (file.lower_bounds.get(1), file.upper_bounds.get(1)) == (least, greatest)


def test_of_many_columns_the_first_hundred_are_reported(tmp_path: Path) -> None:
    schema = schema_of(*[ice.LongType()] * 103)
    batch = pa.RecordBatch.from_arrays([pa.array([1])] * 103, arrow_schema_of(schema).names)
    (file,) = written(metadata_of(tmp_path, schema), [batch])
    assert set(file.value_counts) == set(file.lower_bounds) == set(range(1, 101))
    (file,) = written(metadata_of(tmp_path, schema, {"write.metadata.metrics.default": "counts"}), [batch])
    assert set(file.value_counts) == set(range(1, 104))
    assert not file.lower_bounds


def test_a_text_too_long_for_parquet_has_bounds_all_the_same(tmp_path: Path) -> None:
    schema = schema_of(ice.StringType(), ice.BinaryType())
    texts = ["m", "é" * 5000, "b", None]
    blobs = [b"m", b"\xff" * 5000, b"\x01", None]
    batch = pa.RecordBatch.from_arrays([pa.array(texts), pa.array(blobs)], ["c1", "c2"])
    (file,) = written(metadata_of(tmp_path, schema, {"write.parquet.row-group-limit": "2"}), [batch])
    assert file.lower_bounds == {1: b"b", 2: b"\x01"}
    assert file.upper_bounds == {1: ("é" * 15 + "ê").encode()}  # bytes of 0xff alone can't be raised


def test_a_row_group_of_nan_alone_hides_no_bound(tmp_path: Path) -> None:
    schema = schema_of(ice.DoubleType())
    values = [float("nan"), float("nan"), 5.0, None, None, None, -1.0, float("nan")]
    (file,) = written(metadata_of(tmp_path, schema, {"write.parquet.row-group-limit": "2"}), [column(schema, values)])
    assert (file.nan_value_counts, file.null_value_counts) == ({1: 3}, {1: 3})
    bounds = [bound(ice.DoubleType(), b[1]) for b in (file.lower_bounds, file.upper_bounds)]
    assert bounds == [-1.0, 5.0]


def test_within_structs_there_are_bounds_and_within_lists_none(tmp_path: Path) -> None:
    struct = ice.StructType(ice.NestedField(10, "x", ice.DoubleType()), ice.NestedField(11, "y", ice.StringType()))
    listed = ice.ListType(12, ice.DoubleType(), False)
    mapped = ice.MapType(13, ice.StringType(), 14, ice.DoubleType(), False)
    schema = schema_of(struct, listed, mapped)
    arrow, nan = arrow_schema_of(schema), float("nan")
    columns = [
        [{"x": 1.5, "y": "b"}, {"x": nan, "y": None}, None],
        [[1.0, nan, None], [], None],
        [[("a", nan), ("b", 1.0)], None, []],
    ]
    arrays = [pa.array(v, t) for v, t in zip(columns, arrow.types, strict=True)]
    (file,) = written(metadata_of(tmp_path, schema), [pa.RecordBatch.from_arrays(arrays, schema=arrow)])
    assert file.nan_value_counts == {4: 1, 6: 1, 8: 1}
    assert set(file.lower_bounds) == {4, 5}
    assert bound(ice.DoubleType(), file.upper_bounds[4]) == 1.5
    assert file.null_value_counts[5] == 2


def test_the_time_of_day_is_counted_from_midnight(tmp_path: Path) -> None:
    schema = schema_of(ice.TimeType())
    (file,) = written(metadata_of(tmp_path, schema), [column(schema, [time(0, 0, 1), time(0, 0, 2)])])
    assert bound(ice.TimeType(), file.upper_bounds[1]) == 2_000_000
