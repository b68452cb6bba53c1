"""Files of others that become part of a table: what their metadata says is what they hold, and none is taken twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Name
from pinakes.engine.iceberg.write import commit as commit_module
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_order, rows


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine.session()


def handle(session: Session, name: str = "t") -> Any:
    return session.resolver.table(Name.of(name))[1].handle


COLUMNS = {
    "b": pa.array([True, None, False, True]),
    "i": pa.array([1, -5, None, 7], pa.int32()),
    "l": pa.array([2**40, None, -1, 0], pa.int64()),
    "x": pa.array([1.5, float("nan"), -2.0, None]),
    "d": pa.array([Decimal("1.25"), None, Decimal("-3.00"), Decimal("9.99")], pa.decimal128(9, 2)),
    "day": pa.array([date(2024, 1, 1), date(1969, 1, 1), None, date(2030, 1, 1)]),
    "at": pa.array(
        [datetime(2024, 1, 1, 1, 2, 3), None, datetime(1960, 1, 1), datetime(2030, 1, 1)], pa.timestamp("us")
    ),
    "s": pa.array(["a", "ä" * 40, None, "z" * 5000]),
    "raw": pa.array([b"\x00", b"\xff" * 20, None, b"m"]),
    "st": pa.array([{"n": 1, "t": "x"}, None, {"n": None, "t": "y"}, {"n": 3, "t": None}]),
    "li": pa.array([[1, 2], [], None, [None]], pa.list_(pa.int64())),
}


def test_every_type_is_found_by_conditions(session: Session, tmp_path: Path) -> None:
    """The bounds of the new files leave out no row: each condition finds as many as it does without any."""
    pq.write_table(pa.table(COLUMNS), tmp_path / "one.parquet", row_group_size=2)
    pq.write_table(pa.table({k: v.slice(1, 2) for k, v in COLUMNS.items()}), tmp_path / "two.parquet")
    assert rows(session, f"CALL system.migrate('t', '{tmp_path}/*.parquet')") == [(2,)]
    do(session, f"CREATE VIEW plain AS SELECT * FROM '{tmp_path}/*.parquet'")
    for condition in (
        *("b", "i < 0", "i = 7", "l > 1000", "x > 100", "x < 0", "d = 9.99", "d < 0", "day > DATE '2029-01-01'"),
        *("at < TIMESTAMP '1970-01-01 00:00:00'", "s > 'y'", "s = 'a'", "s IS NULL", "st.n = 3", "li IS NOT NULL"),
    ):
        counts = [rows(session, f"SELECT count(*) FROM {name} WHERE {condition}") for name in ("t", "plain")]
        assert counts[0] == counts[1], condition
    assert len(rows(session, "SELECT * FROM t")) == 6
    do(session, "DELETE FROM t WHERE i = 7")
    rows(session, "CALL system.rewrite_data_files('t', options => map('rewrite-all', 'true'))")
    assert len(rows(session, "SELECT * FROM t")) == 5


def test_times_that_are_stored_otherwise(session: Session, tmp_path: Path) -> None:
    """Milliseconds would be read as microseconds."""
    pq.write_table(pa.table({"at": pa.array([datetime(2024, 1, 1)], pa.timestamp("ms"))}), tmp_path / "a.parquet")
    do(session, "CREATE TABLE t (at TIMESTAMP)")
    with pytest.raises(InvalidArgument, match=r'column "at" is timestamp.* there and timestamp.* in the table'):
        rows(session, f"CALL system.add_files('t', '{tmp_path}/a.parquet')")
    assert handle(session).current_snapshot() is None


def test_files_of_another_table(session: Session, tmp_path: Path) -> None:
    """They tell their columns by ids, which are others here: `a` would be read as `b`."""
    do(session, "CREATE TABLE other (a BIGINT, b BIGINT)")
    do(session, "INSERT INTO other VALUES (1, 2)")
    path = rows(session, 'SELECT file_path FROM "other$files"')[0][0].removeprefix("file://")
    do(session, "CREATE TABLE t (b BIGINT, a BIGINT)")
    with pytest.raises(InvalidArgument, match="has field ids of another table"):
        rows(session, f"CALL system.add_files('t', '{path}')")
    do(session, "CREATE TABLE same (a BIGINT, b BIGINT)")
    assert rows(session, f"CALL system.add_files('same', '{path}')") == [(1, 1)]
    assert rows(session, "SELECT a, b FROM same") == [(1, 2)]


def test_a_directory_that_says_otherwise_than_the_file(session: Session, tmp_path: Path) -> None:
    (tmp_path / "raw" / "k=1").mkdir(parents=True)
    pq.write_table(pa.table({"id": [1], "k": [2]}), tmp_path / "raw" / "k=1" / "a.parquet")
    do(session, "CREATE TABLE t (id BIGINT, k BIGINT) PARTITIONED BY (k)")
    with pytest.raises(InvalidArgument, match="is in a directory of k = 1, and its column"):
        rows(session, f"CALL system.add_files('t', '{tmp_path}/raw')")


def test_two_take_the_same_files(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    do(session, "CREATE TABLE t (id BIGINT)")
    do(session, "INSERT INTO t VALUES (0)")
    call = f"CALL lake.system.add_files('default.t', '{tmp_path}/a.parquet')"
    other, theirs, left = session.engine.session(), commit_module._compare_and_set, [call]

    def meddling(transaction: Any) -> None:
        if left:
            rows(other, left.pop())
        theirs(transaction)

    monkeypatch.setattr(commit_module, "_compare_and_set", meddling)
    with pytest.raises(InvalidArgument, match="has 1 of these 1 files already"):
        rows(session, call)
    assert in_order(rows(session, "SELECT id FROM t")) == [(0,), (1,)]


def test_where_a_migrated_table_is(session: Session, tmp_path: Path) -> None:
    """In the directory of the files if that is all theirs: what lies beside them is nobody's to remove."""
    for name in ("alone", "beside"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"id": [1]}), tmp_path / name / "a.parquet")
        if name == "beside":
            (tmp_path / name / "notes.txt").write_text("mine")
        rows(session, f"CALL system.migrate('{name}', '{tmp_path / name}/')")
    assert handle(session, "alone").metadata.location.removeprefix("file://").rstrip("/") == str(tmp_path / "alone")
    assert str(tmp_path / "beside") not in handle(session, "beside").metadata.location
    assert handle(session, "alone").properties["migrated"] == "true"
    for name in ("alone", "beside"):
        assert rows(session, f"SELECT * FROM {name}") == [(1,)]
        later = "older_than => now() + INTERVAL '1' DAY, dry_run => false"
        assert rows(session, f"CALL system.remove_orphan_files('{name}', {later})") == []
    assert (tmp_path / "beside" / "notes.txt").read_text() == "mine"


def test_what_does_not_fit_leaves_no_table(session: Session, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    pq.write_table(pa.table({"id": [1]}), tmp_path / "raw" / "a.parquet")
    pq.write_table(pa.table({"id": pa.array([1], pa.uint32())}), tmp_path / "raw" / "b.parquet")
    with pytest.raises(InvalidArgument, match=r"b.parquet.*can't be read as they are"):
        rows(session, f"CALL system.migrate('t', '{tmp_path}/raw')")
    assert rows(session, "SHOW TABLES") == []
    assert sorted(path.name for path in (tmp_path / "raw").iterdir()) == ["a.parquet", "b.parquet"]
