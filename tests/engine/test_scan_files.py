"""The files of a scan: which are read, and what is said when one is not as the metadata says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.scan import prune
from pinakes.engine.iceberg.scan import table as scans
from pinakes.engine.iceberg.scan.avro import read_avro
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    session = engine.session()
    do(session, "CREATE TABLE t (a INT, s VARCHAR) PARTITIONED BY (a)")
    do(session, "INSERT INTO t SELECT x, 'v' || x FROM unnest(range(0, 20)) AS u(x)")
    return session


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each scan chose."""
    found: list[int] = []
    files = prune.Pruner.files

    def counted(self, wanted):
        numbers = files(self, wanted)
        found.append(len(numbers))
        return numbers

    monkeypatch.setattr(prune.Pruner, "files", counted)
    return found


def table(session: Session, name: str = "t") -> IcebergTable:
    return session.resolver.table(Name.of(name))[1]


def data_files(session: Session) -> list[Path]:
    return [Path(task.file.file_path.removeprefix("file://")) for task in table(session).handle.scan().plan_files()]


@pytest.mark.parametrize(
    ("sql", "files"),
    [
        ("SELECT count(*) FROM t WHERE a = 5", 1),
        ("SELECT count(*) FROM t WHERE a IN (5, 6, 7, 8)", 4),
        ("SELECT count(*) FROM t WHERE a + 0 = 5", 20),
        ("SELECT count(*) FROM t WHERE s = 'v7'", 1),
        ("SELECT count(*) FROM t WHERE s LIKE 'v1%'", 11),
        ("SELECT count(*) FROM t WHERE s IS NULL", 0),
        ("SELECT count(*) FROM t WHERE a = CAST('5' AS INT)", 1),
        ("SELECT count(*) FROM t JOIN (VALUES (CAST(5 AS INT))) AS v(x) ON t.a = v.x WHERE v.x = 5", 1),
        ("SELECT count(*) FROM (SELECT * FROM t WHERE a < 10) AS u WHERE a > 7", 2),
        ("SELECT (SELECT max(s) FROM t WHERE a = 3)", 1),
        ("SELECT count(*) FROM t AS x JOIN t AS y ON x.s = y.s WHERE x.a = 3 AND y.a = 4", 2),
        ("EXPLAIN SELECT * FROM t WHERE a = 5", 1),
    ],
)
def test_only_files_that_can_match_are_read(session: Session, chosen: list[int], sql: str, files: int) -> None:
    session.run(sql).read_all()
    assert chosen == [files]


@pytest.mark.parametrize(
    ("condition", "files", "found"),
    [
        ("CAST(at AS DATE) = DATE '2024-01-31'", 1, 24),
        ("CAST(at AS DATE) <> DATE '2024-01-31'", 19, 456),
        ("at::DATE IN (DATE '2024-01-30', DATE '2024-02-02')", 2, 48),
        ("NOT CAST(at AS DATE) > DATE '2024-01-30'", 1, 24),
        ("date_trunc('month', at) = DATE '2024-01-01'", 2, 48),
        ("date_trunc('week', at) > TIMESTAMP '2024-01-29'", 14, 336),
        ("CAST(date_trunc('month', at) AS DATE) = DATE '2024-01-01'", 2, 48),
        ("CAST(zoned AS DATE) = DATE '2024-02-03'", 3, 24),
        ("date_trunc('day', zoned) = TIMESTAMP '2024-02-03 00:00:00'", 4, 24),
        ("day >= TIMESTAMP '2024-02-17 12:00:00'", 1, 24),
        ("n = 7.0", 1, 1),
        ("n > 470.5", 1, 9),
        ("amount > 700.555", 1, 12),
        ("r > 470.5", 1, 9),
        ("n IS NOT DISTINCT FROM 7", 1, 1),
    ],
)
def test_functions_that_keep_the_order_count(
    engine: Engine, chosen: list[int], condition: str, files: int, found: int
) -> None:
    session = engine.session()
    columns = "n INT, at TIMESTAMP, zoned TIMESTAMPTZ, day DATE, amount DECIMAL(12, 2), r REAL"
    do(session, f"CREATE TABLE h ({columns}) PARTITIONED BY (day(at))")
    do(
        session,
        "INSERT INTO h SELECT value, at, at, at, value * 1.5, value FROM"
        " (SELECT value, TIMESTAMP '2024-01-30' + CAST(value || ' hours' AS INTERVAL) AS at FROM range(480))",
    )
    chosen.clear()
    assert rows(session, f"SELECT count(*) FROM h WHERE {condition}") == [(found,)]
    assert chosen == [files]


@pytest.mark.parametrize(
    ("condition", "files", "found"),
    [
        ("s.a = 5", 1, 1),
        ("s['a'] > 4.5 AND s.a < 6", 1, 1),
        ("s.n.x >= 18", 2, 2),
        ("CAST(s.n.at AS DATE) = DATE '2024-01-03'", 1, 1),
        ("s.b LIKE 'b1%'", 11, 11),
        ("NOT (s.a > 3)", 3, 3),
        ("s.n.x IS NOT NULL", 19, 19),
        ("s.a IS NULL", 20, 1),
        ("s.l[1] = 5", 20, 1),
    ],
)
def test_fields_within_structs_count(engine: Engine, chosen: list[int], condition: str, files: int, found: int) -> None:
    session = engine.session()
    kind = "STRUCT(a INT, b VARCHAR, n STRUCT(x DOUBLE, at TIMESTAMP), l ARRAY(INT))"
    do(session, f"CREATE TABLE n (p INT, s {kind}) PARTITIONED BY (p)")
    at = "TIMESTAMP '2024-01-01 10:00:00' + CAST(value || ' days' AS INTERVAL)"
    one = f"{{a: value, b: 'b' || value, n: {{x: CAST(value AS DOUBLE), at: {at}}}, l: [value]}}"
    do(session, f"INSERT INTO n SELECT value, CASE WHEN value <> 3 THEN {one} END FROM range(20)")
    chosen.clear()
    assert rows(session, f"SELECT count(*) FROM n WHERE {condition}") == [(found,)]
    assert chosen == [files]


def test_a_view_is_narrowed_by_what_is_asked_of_it(session: Session, chosen: list[int]) -> None:
    do(session, "CREATE VIEW v AS SELECT a AS k, s FROM t")
    do(session, "CREATE VIEW w AS SELECT k, upper(s) AS s FROM v WHERE k > 3")
    chosen.clear()
    assert rows(session, "SELECT s FROM w WHERE k < 6 ORDER BY s") == [("V4",), ("V5",)]
    assert chosen == [2]


def test_rows_in_memory_beside_it_do_not_disturb(session: Session) -> None:
    from pinakes.engine.binding.memory_sources import Rows

    mine = Rows(pa.table({"x": [1, 2]}))
    sql = "SELECT t.s FROM t JOIN mine ON t.a = mine.x ORDER BY s"
    found = session.run(sql, lookup=lambda name: mine if name == "mine" else None).read_all()
    assert found.column(0).to_pylist() == ["v1", "v2"]


@pytest.mark.parametrize("few", [4, 100], ids=["narrowed", "at once"])
def test_a_missing_file_is_an_error(session: Session, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(scans, "FEW", few)
    gone = data_files(session)[3]
    gone.unlink()
    with pytest.raises(DataCorrupt, match=r"table default\.t: .*\.parquet cannot be read: No such file"):
        rows(session, "SELECT max(s) FROM t")
    number = int(unquote(gone.parent.name).removeprefix("a="))
    if few == 4:  # the others are not concerned
        assert rows(session, f"SELECT count(*) FROM t WHERE a > {number}") == [(19 - number,)]


def test_a_file_that_is_shorter_is_an_error(session: Session) -> None:
    short = data_files(session)[3]
    short.write_bytes(short.read_bytes()[:-10])
    with pytest.raises(DataCorrupt, match=r"has \d+ bytes; the metadata says \d+"):
        rows(session, "SELECT max(s) FROM t")


def test_a_file_that_goes_while_it_is_read_is_an_error(session: Session) -> None:
    result = session.run("SELECT * FROM t")
    first = iter(result)
    next(first)
    data_files(session)[3].unlink()
    with pytest.raises(DataCorrupt):
        list(first)


def test_a_truncated_manifest_names_the_table(engine: Engine, session: Session) -> None:
    snapshot = table(session).handle.current_snapshot()
    assert snapshot is not None
    path = Path(snapshot.manifest_list.removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:50])
    engine.caches.clear()
    with pytest.raises(DataCorrupt, match=r"table default\.t: .*snap-.*avro cannot be read: it ends within its header"):
        rows(session, "SELECT count(*) FROM t")


def test_nan_beside_one_number_is_not_overlooked(session: Session) -> None:
    """DataFusion takes a column for a constant whose least and greatest value are the same, and forgets NaN."""
    do(session, "CREATE TABLE f (v DOUBLE)")
    handle = table(session, "f").handle
    handle.append(pa.table({"v": pa.array([-3.0, float("nan")])}))
    table(session, "f")  # what is remembered of it goes
    assert [str(v) for (v,) in rows(session, "SELECT v FROM f ORDER BY v")] == ["-3.0", "nan"]
    assert rows(session, "SELECT count(*) FROM f WHERE v > 0") == [(1,)]


def test_our_own_files_say_that_they_have_no_nan(session: Session) -> None:
    do(session, "CREATE TABLE f (v DOUBLE)")
    do(session, "INSERT INTO f VALUES (1.0), (1.0)")
    scan = scans.IcebergScan(table(session, "f"), session)
    assert not scan.files.one_valued(1)


def test_an_unpartitioned_manifest_is_read_as_any_other(session: Session) -> None:
    do(session, "CREATE TABLE n (a INT)")
    do(session, "INSERT INTO n VALUES (1)")
    handle = table(session, "n").handle
    (manifest,) = handle.current_snapshot().manifests(handle.io)
    found = read_avro(handle.io, manifest.manifest_path).to_pylist()
    assert found[0]["data_file"]["record_count"] == 1


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_manifests_are_read_however_they_are_compressed(session: Session, codec: str) -> None:
    do(session, f"CREATE TABLE c (a INT) TBLPROPERTIES ('write.avro.compression-codec' = '{codec}')")
    do(session, "INSERT INTO c VALUES (1), (2)")
    assert rows(session, "SELECT sum(a) FROM c") == [(3,)]


def test_a_file_without_field_ids_is_read_by_the_name_mapping(session: Session, tmp_path: Path) -> None:
    do(session, "CREATE TABLE m (a INT, b VARCHAR)")
    pq.write_table(pa.table({"b": ["x"], "a": pa.array([1], pa.int32())}), tmp_path / "x.parquet")
    handle = table(session, "m").handle
    handle.add_files([str(tmp_path / "x.parquet")])
    do(session, "ALTER TABLE m RENAME COLUMN b TO c")
    assert session.run("SELECT * FROM m").read_all().to_pylist() == [{"a": 1, "c": "x"}]
    assert "DataSourceExec" in str(rows(session, "EXPLAIN SELECT * FROM m"))


def test_names_that_files_spell_otherwise(session: Session) -> None:
    do(session, 'CREATE TABLE o ("a b" INT, "é" VARCHAR, "1x" INT)')
    do(session, "INSERT INTO o VALUES (1, 'x', 2)")
    assert session.run("SELECT * FROM o").read_all().to_pylist() == [{"a b": 1, "é": "x", "1x": 2}]


def test_footers_are_read_once(engine: Engine, session: Session) -> None:
    """A column that was renamed is found in each file by what its footer says."""
    do(session, "ALTER TABLE t RENAME COLUMN s TO name")
    do(session, "SET GLOBAL cache.plans.max_entries = 0")  # else the second query does not even ask
    for misses, hits in ((20, 0), (20, 20)):
        assert len(rows(session, "SELECT name FROM t")) == 20
        told = next(cache for cache in engine.caches.stats() if cache.name == "footers")
        assert (told.misses, told.hits, told.entries) == (misses, hits, 20)
    engine.caches.clear()
    assert len(rows(session, "SELECT name FROM t")) == 20
    assert next(cache for cache in engine.caches.stats() if cache.name == "footers").misses == 40
