"""ANALYZE: sketches that others read, counts that the planner goes by, and a commit that disturbs nobody."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from datasketches import compact_theta_sketch
from mmh3 import mmh3_x64_128_utupledigest
from pyiceberg import types as ice
from pyiceberg.conversions import to_bytes

from pinakes.core.iceberg_metadata import distinct_counts
from pinakes.core.names import Name
from pinakes.engine.iceberg.statistics import analyze as analyze_module
from pinakes.engine.iceberg.statistics.hashes import count
from pinakes.engine.iceberg.statistics.sketch import ThetaSketch
from pinakes.engine.iceberg.write.puffin import blobs_in
from pinakes.engine.planning.optimize.sizes import Edge, Sized, Sizes
from pinakes.engine.session import Session
from tests.engine.support import an_engine, chance, do, how_many, rows, seed_of


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine(tmp_path) as engine:
        yield engine.session()


def handle(session: Session, name: str = "t") -> Any:
    return session.resolver.table(Name.of(name))[1].handle


def known(session: Session, name: str = "t") -> dict[str, float]:
    table = handle(session, name)
    counted = distinct_counts(table.metadata)
    return {field.name: counted[field.field_id] for field in table.schema().fields if field.field_id in counted}


# --- sketches --------------------------------------------------------------------------------------------------------

VALUES: list[tuple[ice.IcebergType, pa.DataType, list[Any]]] = [
    (ice.BooleanType(), pa.bool_(), [True, False]),
    (ice.IntegerType(), pa.int32(), [0, 1, -1, 2**31 - 1, -(2**31)]),
    (ice.LongType(), pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63)]),
    (ice.FloatType(), pa.float32(), [0.0, -0.0, 1.5, float("inf")]),
    (ice.DoubleType(), pa.float64(), [0.0, -0.0, 1.5, float("-inf")]),
    (ice.DateType(), pa.date32(), [date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29)]),
    (ice.TimestampType(), pa.timestamp("us"), [datetime(1970, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4)]),
    (ice.StringType(), pa.string(), ["a", "ä", "a longer text than sixteen bytes are", "日本"]),
    (ice.StringType(), pa.string_view(), ["a", "ä"]),
    (ice.BinaryType(), pa.binary(), [b"\x00", b"\xff\x00"]),
    (ice.FixedType(3), pa.binary(3), [b"abc", b"abd"]),
    (ice.DecimalType(10, 2), pa.decimal128(10, 2), [Decimal("0.00"), Decimal("1.28"), Decimal("-1.29")]),
    (ice.DecimalType(38, 0), pa.decimal128(38, 0), [Decimal("1" + "0" * 37), Decimal("-1" + "0" * 36 + "7")]),
]


@pytest.mark.parametrize(("kind", "arrow", "values"), VALUES, ids=lambda v: str(v) if not isinstance(v, list) else "")
def test_the_bytes_of_a_value_are_hashed(kind: Any, arrow: pa.DataType, values: list[Any]) -> None:
    """Those that Iceberg stores a single value as."""
    sketch = ThetaSketch()
    count(sketch, pa.array([*values, None, *values], arrow), kind)
    stored = [v if isinstance(v, bytes) else to_bytes(kind, v) for v in values]
    assert sketch.hashes() == sorted({mmh3_x64_128_utupledigest(b, 9001)[0] >> 1 for b in stored})


def test_uuids_are_sixteen_bytes() -> None:
    sketch, value = ThetaSketch(), "0b6c4a4e-8a3a-4d3a-9f7e-0123456789ab"
    count(sketch, pa.array([value]), ice.UUIDType())
    assert sketch.hashes() == [mmh3_x64_128_utupledigest(UUID(value).bytes, 9001)[0] >> 1]


@pytest.mark.parametrize("distinct", [0, 1, 2, 100, 4096, 4097, 8192, 8193, 100_000])
def test_others_read_a_sketch(distinct: int) -> None:
    sketch = ThetaSketch()
    for start in range(0, distinct, 3000):  # some of each part were there before
        numbers = range(max(0, start - 1000), min(distinct, start + 3000))
        count(sketch, pa.array(numbers, pa.int64()), ice.LongType())
    read = compact_theta_sketch.deserialize(sketch.to_bytes())
    assert read.get_estimate() == pytest.approx(sketch.estimate)
    assert read.is_ordered()
    assert list(read) == sketch.hashes()
    assert sketch.estimate == distinct if distinct <= 4096 else abs(sketch.estimate / distinct - 1) < 0.08


def test_the_order_of_values_is_no_matter() -> None:
    """In parts of any size, one by one or many at once: what is kept depends on the values alone."""
    seed = seed_of("sketch")
    numbers = list(range(how_many(20_000, 200_000)))
    chance(seed, "order").shuffle(numbers)
    whole, parts = ThetaSketch(), ThetaSketch()
    count(whole, pa.array(numbers, pa.int64()), ice.LongType())
    for start in range(0, len(numbers), 700):
        part = numbers[start : start + 700]
        parts.add(mmh3_x64_128_utupledigest(struct.pack("<q", n), 9001)[0] >> 1 for n in part)
    both = min(whole.theta, parts.theta)
    assert [h for h in whole.hashes() if h < both] == [h for h in parts.hashes() if h < both]
    assert abs(parts.estimate / len(numbers) - 1) < 0.08


# --- the file --------------------------------------------------------------------------------------------------------


def test_what_the_metadata_says_is_in_the_file(session: Session) -> None:
    do(session, "CREATE TABLE t AS SELECT x AS id, 't' || (x % 7) AS name FROM unnest(range(0, 10000)) AS u(x)")
    ((path,),) = rows(session, "CALL system.compute_table_stats('t')")
    (file,) = handle(session).metadata.statistics
    content = Path(path.removeprefix("file://")).read_bytes()
    assert file.statistics_path == path
    assert file.file_size_in_bytes == len(content)
    assert content[-file.file_footer_size_in_bytes :][:4] == b"PFA1"
    blobs = blobs_in(content)
    assert [(b.fields, b.properties["ndv"]) for b in blobs] == [(b.fields, b.properties["ndv"]) for b in _told(file)]
    for blob in blobs:
        assert round(compact_theta_sketch.deserialize(blob.content).get_estimate()) == int(blob.properties["ndv"])
    assert known(session)["name"] == 7
    assert abs(known(session)["id"] / 10_000 - 1) < 0.08


def _told(file: Any) -> Any:
    return file.blob_metadata


def test_rows_that_are_deleted_are_not_counted(session: Session) -> None:
    for version, mode in ((2, "merge-on-read"), (3, "merge-on-read"), (2, "copy-on-write")):
        name = f"{mode[:4]}{version}"
        do(
            session,
            f"CREATE TABLE {name} TBLPROPERTIES ('format-version' = '{version}', 'write.delete.mode' = '{mode}') "
            f"AS SELECT x AS id FROM unnest(range(0, 100)) AS u(x)",
        )
        do(session, f"DELETE FROM {name} WHERE id % 2 = 0")
        do(session, f"ANALYZE {name}")
        assert known(session, name) == {"id": 50}


def test_an_earlier_snapshot(session: Session) -> None:
    do(session, "CREATE TABLE t AS SELECT 1 AS id")
    first = handle(session).metadata.current_snapshot_id
    do(session, "INSERT INTO t VALUES (2)")
    do(session, "ANALYZE t")
    rows(session, f"CALL system.compute_table_stats('t', {first})")
    files = {f.snapshot_id: f.blob_metadata[0].properties["ndv"] for f in handle(session).metadata.statistics}
    assert files == {first: "1", handle(session).metadata.current_snapshot_id: "2"}
    assert known(session) == {"id": 2}


def test_rows_come_while_they_are_counted(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics are of one snapshot: who adds rows meanwhile is neither hindered nor undone, and nothing is read
    again."""
    do(session, "CREATE TABLE t AS SELECT x AS id FROM unnest(range(0, 10)) AS u(x)")
    first = handle(session).metadata.current_snapshot_id
    counted, calls = analyze_module._counted, []

    def meanwhile(*arguments: Any) -> Any:
        calls.append(arguments)
        found = counted(*arguments)
        do(session.engine.session(), "INSERT INTO lake.default.t VALUES (10)")
        return found

    monkeypatch.setattr(analyze_module, "_counted", meanwhile)
    do(session, "ANALYZE t")
    assert len(calls) == 1
    assert rows(session, "SELECT count(*) FROM t") == [(11,)]
    assert [file.snapshot_id for file in handle(session).metadata.statistics] == [first]


def test_expired_statistics_go(session: Session) -> None:
    do(session, "CREATE TABLE t AS SELECT 1 AS id")
    do(session, "ANALYZE t")
    path = Path(handle(session).metadata.statistics[0].statistics_path.removeprefix("file://"))
    do(session, "INSERT INTO t VALUES (2)")
    assert rows(session, "CALL system.remove_orphan_files('t', older_than => now() + INTERVAL '1' DAY)") == []
    ((*_, statistics),) = rows(session, "CALL system.expire_snapshots('t', now() + INTERVAL '1' DAY)")
    assert statistics == 1
    assert not path.exists()
    assert handle(session).metadata.statistics == []


# --- the planner -----------------------------------------------------------------------------------------------------


def test_counts_tell_how_many_rows_a_join_gives() -> None:
    """By texts, of which no bounds tell anything: a thousand rows of ten kinds with as many."""
    edge = [Edge(0, "a", 1, "b")]
    plain = Sizes([Sized(1000.0, {}), Sized(1000.0, {})], edge)
    counted = Sizes([Sized(1000.0, {}, {"a": 10.0}), Sized(1000.0, {}, {"b": 5.0})], edge)
    assert plain.joined(1000.0, frozenset({0}), 1) == pytest.approx(1000.0)
    assert counted.joined(1000.0, frozenset({0}), 1) == pytest.approx(100_000.0)


def test_the_planner_reads_counts(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A join by a text of two values multiplies rows, so it comes last: that is known from ANALYZE alone."""
    from pinakes.engine.planning.optimize import join_order

    monkeypatch.setattr(join_order, "WORTH", 100)
    do(session, "CREATE TABLE a AS SELECT x AS id, 'k' || (x % 2) AS k FROM unnest(range(0, 1000)) AS u(x)")
    do(session, "CREATE TABLE b AS SELECT 'k' || (x % 2) AS k FROM unnest(range(0, 500)) AS u(x)")
    do(session, "CREATE TABLE c AS SELECT x AS id FROM unnest(range(0, 900)) AS u(x)")
    orders: list[Any] = []
    chosen = join_order._Clause._chosen

    def watched(clause: Any) -> Any:
        orders.append(clause._sizes().joined(1000.0, frozenset({0}), 1))
        return chosen(clause)

    monkeypatch.setattr(join_order._Clause, "_chosen", watched)
    sql = "SELECT count(*) FROM a JOIN b ON a.k = b.k JOIN c ON a.id = c.id"
    before = rows(session, sql)
    for name in "abc":
        do(session, f"ANALYZE {name}")
    assert rows(session, sql + " WHERE 1 = 1") == before
    assert orders[0] < orders[-1] == pytest.approx(250_000.0)
