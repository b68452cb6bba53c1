"""COPY … TO where SQL alone can't tell: what other readers find in the files, what is left when it is stopped, links,
rights and directories."""

from __future__ import annotations

import csv
import gzip
import json
import os
import threading
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pinakes.core.errors import PermissionDenied, QueryCanceled
from pinakes.core.file_formats import ENDINGS
from pinakes.core.output.value_format import as_text, plain
from pinakes.engine.files.writing import partitions
from pinakes.engine.files.writing.options import FORMATS
from pinakes.engine.session import Session
from tests.engine.support import an_engine, wait_until

ENDLESS = "SELECT a.value * 7 AS n, 'some text' AS s FROM range(1000000) a, range(1000000) b"

AHEAD = timezone(timedelta(hours=2))
TYPES = pa.table(
    {
        "i": pa.array([1, None, -(2**63)]),
        "f": pa.array([1.5, float("nan"), None]),
        "d": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(20, 2)),
        "day": pa.array([date(2024, 2, 29), None, date(1, 1, 1)]),
        "at": pa.array([datetime(2024, 1, 1, 12, 0, 0, 5), None, datetime(1969, 12, 31)], pa.timestamp("us")),
        "utc": pa.array([datetime(2024, 1, 1, tzinfo=AHEAD), None, None], pa.timestamp("us", "UTC")),
        "b": pa.array([b"\x00\xff", None, b""]),
        "s": pa.array(['q"u,o\nte', None, ""]),
        "yes": pa.array([True, None, False]),
        "list": pa.array([[1, None], None, []], pa.list_(pa.int64())),
        "struct": pa.array([{"a": 1, "b": "x,y"}, None, {"a": None, "b": None}]),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        "word": pa.array(["a", None, "a"]).dictionary_encode(),
        "view": pa.array(["a string that is long enough", None, ""], pa.string_view()),
    }
)  # fmt: skip


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def copied(session: Session, sql: str) -> int:
    result = session.run(sql)
    assert result.kind == "COPY"
    assert result.count is not None
    return result.count


@pytest.fixture
def types(session: Session, tmp_path: Path) -> Session:
    """A session that has all the types in a table."""
    pq.write_table(TYPES, tmp_path / "types.parquet")
    session.run(f"CREATE TEMP VIEW types AS SELECT * FROM '{tmp_path / 'types.parquet'}'")
    return session


def test_parquet_and_arrow_hold_every_type(types: Session, tmp_path: Path) -> None:
    expected = types.run("SELECT * FROM types").read_all().to_pylist()
    for name, read in (("x.parquet", pq.read_table), ("x.arrow", feather.read_table)):
        assert copied(types, f"COPY types TO '{tmp_path / name}'") == 3
        found = read(tmp_path / name)
        assert str(found.to_pylist()) == str(expected)  # as text, since NaN is not equal to itself
        assert not any("view" in str(kind) or "dictionary" in str(kind) for kind in found.schema.types)


def test_another_engine_reads_the_parquet_file(types: Session, tmp_path: Path) -> None:
    copied(types, f"COPY (SELECT i, d, day, at, s, list FROM types) TO '{tmp_path / 'x.parquet'}'")
    found = duckdb.sql(f"SELECT * FROM '{tmp_path / 'x.parquet'}'").fetchall()
    assert found == [tuple(row[n] for n in ("i", "d", "day", "at", "s", "list")) for row in TYPES.to_pylist()]


def test_csv_has_the_texts_that_are_shown(types: Session, tmp_path: Path) -> None:
    copied(types, f"COPY types TO '{tmp_path / 'x.csv.gz'}'")
    with gzip.open(tmp_path / "x.csv.gz", "rt", encoding="utf-8", newline="") as file:
        found = list(csv.reader(file, strict=True))
    shown = [["" if v is None else as_text(v) for v in plain(column.combine_chunks())] for column in TYPES.columns]
    number = TYPES.schema.types.index(pa.binary())
    shown[number] = ["" if v is None else f"\\x{v.hex()}" for v in TYPES.column(number).to_pylist()]
    assert found == [TYPES.schema.names, *(list(row) for row in zip(*shown, strict=True))]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_json_has_the_values_that_are_shown(types: Session, tmp_path: Path, name: str) -> None:
    copied(types, f"COPY types TO '{tmp_path / name}'")
    text = (tmp_path / name).read_text(encoding="utf-8")
    found = json.loads(text) if name == "x.json" else [json.loads(line) for line in text.split("\n")[:-1]]
    assert [row["struct"] for row in found] == [{"a": 1, "b": "x,y"}, None, {"a": None, "b": None}]
    assert [row["f"] for row in found] == [1.5, "NaN", None]
    assert [row["d"] for row in found] == ["1.50", None, "-0.01"]
    assert [row["map"] for row in found] == [{"k": 1}, None, {}]
    assert list(found[0]) == TYPES.schema.names


@pytest.mark.parametrize(
    ("name", "text"), [("x.csv", "a,b\n"), ("x.tsv", "a\tb\n"), ("x.json", "[]\n"), ("x.jsonl", "")]
)
def test_no_rows(session: Session, tmp_path: Path, name: str, text: str) -> None:
    assert copied(session, f"COPY (SELECT 1 AS a, 2 AS b WHERE false) TO '{tmp_path / name}'") == 0
    assert (tmp_path / name).read_text() == text


def test_row_groups_have_the_size_that_was_requested(session: Session, tmp_path: Path) -> None:
    sql = f"COPY (SELECT * FROM range(1000)) TO '{tmp_path / 'x.parquet'}' (ROW_GROUP_SIZE 300, COMPRESSION zstd)"
    assert copied(session, sql) == 1000
    found = pq.ParquetFile(tmp_path / "x.parquet").metadata
    assert [found.row_group(i).num_rows for i in range(found.num_row_groups)] == [300, 300, 300, 100]
    assert found.row_group(0).column(0).compression == "ZSTD"


def test_whatever_ending_is_written_is_also_read() -> None:
    assert set(FORMATS) <= set(ENDINGS)


# --- stopped, failed ---------------------------------------------------------------------------------------------


def written(directory: Path) -> list[Path]:
    """The files that a COPY which runs has begun."""
    return [p for p in (*directory.glob(".pinakes-*.tmp"), *directory.glob(".pinakes-*.tmp/**/*")) if p.is_file()]


@pytest.mark.parametrize("options", ["(FORMAT csv)", "(FORMAT parquet)", "(FORMAT csv, PARTITION_BY s, OVERWRITE)"])
def test_a_copy_that_is_stopped_leaves_what_was_there(session: Session, tmp_path: Path, options: str) -> None:
    target = tmp_path / "target"
    if "PARTITION_BY" in options:
        (target / "s=old").mkdir(parents=True)
    else:
        target.write_text("old")
    before = sorted(tmp_path.rglob("*"))
    failures: list[BaseException] = []

    def run() -> None:
        try:
            session.run(f"COPY ({ENDLESS}) TO '{target}' {options}")
        except QueryCanceled as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: any(p.stat().st_size for p in written(tmp_path)), "bytes in a temporary file")
    session.cancel()
    thread.join()
    assert len(failures) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_rows_are_counted_while_they_are_written(session: Session, tmp_path: Path) -> None:
    copied(session, f"COPY (SELECT * FROM range(100)) TO '{tmp_path / 'x.csv'}'")
    assert session.engine.tracker.snapshot()[-1].rows == 100


# --- places ------------------------------------------------------------------------------------------------------


def test_nothing_outside_of_the_allowed_directories_is_touched(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    allowed.mkdir()
    outside.mkdir()
    (allowed / "link").symlink_to(outside)
    (allowed / "file.csv").symlink_to(outside / "file.csv")
    with an_engine(tmp_path / "lake", allowed_paths=(str(allowed),)) as engine:
        session = engine.session()
        assert copied(session, f"COPY (SELECT 1 AS a) TO '{allowed / 'x.csv'}'") == 1
        for path in (outside / "x.csv", allowed / "../outside/x.csv", allowed / "link/x.csv", allowed / "file.csv"):
            with pytest.raises(PermissionDenied):
                session.run(f"COPY (SELECT 1 AS a) TO '{path}'")
        with pytest.raises(PermissionDenied):
            session.run(f"COPY (SELECT 1 AS a, 2 AS b) TO '{outside}' (FORMAT csv, PARTITION_BY a)")
    assert list(outside.iterdir()) == []


def test_a_link_stays_and_the_file_behind_it_is_replaced(session: Session, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "real" / "x.csv")
    for number in (1, 2):
        copied(session, f"COPY (SELECT {number} AS a) TO '{tmp_path / 'link.csv'}'")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real" / "x.csv").read_text() == "a\n2\n"


def test_rights_are_kept_and_new_files_have_the_usual_ones(session: Session, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("")
    kept.chmod(0o640)
    copied(session, f"COPY (SELECT 1 AS a) TO '{kept}'")
    assert kept.stat().st_mode & 0o777 == 0o640
    (tmp_path / "usual").touch()
    copied(session, f"COPY (SELECT 1 AS a) TO '{tmp_path / 'new.csv'}'")
    assert (tmp_path / "new.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_pipe_is_written_as_it_is(session: Session, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    copied(session, f"COPY (SELECT 1 AS a) TO '{tmp_path / 'pipe'}' (FORMAT csv)")
    reader.join()
    assert found == ["a\n1\n"]
    assert (tmp_path / "pipe").is_fifo()


# --- directories -------------------------------------------------------------------------------------------------


def test_more_partitions_than_files_may_be_open(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows come in turns and little is held back: files are closed and begun again; the order in a partition stays."""
    monkeypatch.setattr(partitions, "MOST_BYTES", 50_000)
    parts = partitions.MOST_OPEN + 10
    session.run("SET batch_size = 1000")
    sql = f"COPY (SELECT value AS n, value % {parts} AS part FROM range(50000) ORDER BY n) TO '{tmp_path / 'out'}'"
    assert copied(session, f"{sql} (FORMAT jsonl, PARTITION_BY part)") == 50000
    assert {d.name for d in (tmp_path / "out").iterdir()} == {f"part={i}" for i in range(parts)}
    most = 0
    for number in range(parts):
        files = sorted((tmp_path / "out" / f"part={number}").iterdir(), key=lambda f: int(f.stem.split("_")[1]))
        rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        assert rows == [{"n": n} for n in range(number, 50000, parts)]
        most = max(most, len(files))
    assert most > 1


def test_names_of_directories_are_safe(session: Session, tmp_path: Path) -> None:
    sql = "SELECT column1 AS n, column2 AS k FROM (VALUES (1, '../x'), (2, 'a/b=c%'), (3, ''), (4, NULL), (5, '日本'))"
    copied(session, f"COPY ({sql}) TO '{tmp_path / 'out'}' (FORMAT parquet, PARTITION_BY k)")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"k=..%2Fx", "k=a%2Fb%3Dc%25", "k=", "k=__HIVE_DEFAULT_PARTITION__", "k=%E6%97%A5%E6%9C%AC"}
    found = session.run(f"SELECT n, k FROM '{tmp_path / 'out'}/**/*.parquet' ORDER BY n").read_all()
    assert found.column("k").to_pylist() == ["../x", "a/b=c%", "", None, "日本"]


def test_overwrite_removes_data_and_nothing_else(session: Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sql = f"COPY (SELECT 1 AS n, 2 AS k) TO '{out}' (FORMAT csv, PARTITION_BY k, OVERWRITE, WRITE_PARTITION_COLUMNS)"
    (out / "k=1").mkdir(parents=True)
    (out / "k=1" / "data_0.csv").touch()
    copied(session, sql)
    assert sorted(p.relative_to(out).as_posix() for p in out.rglob("*.csv")) == ["k=2/data_0.csv"]
    assert (out / "k=2" / "data_0.csv").read_text() == "n,k\n1,2\n"
    (out / "thesis.doc").touch()
    with pytest.raises(Exception, match=r"would remove 'thesis\.doc'"):
        session.run(sql)
    assert (out / "thesis.doc").exists()


def test_an_empty_partitioned_result_is_an_empty_directory(session: Session, tmp_path: Path) -> None:
    sql = f"COPY (SELECT 1 AS n, 2 AS k WHERE false) TO '{tmp_path / 'out'}' (FORMAT csv, PARTITION_BY k)"
    assert copied(session, sql) == 0
    assert list((tmp_path / "out").iterdir()) == []
