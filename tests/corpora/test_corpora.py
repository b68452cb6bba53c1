"""The runner of third-party sqllogictest files finds wrong answers; the files of PINAKES_CORPUS show none."""

from __future__ import annotations

import os
import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from tests.corpora.compare import rows, same_multiset, same_rows, tolerances
from tests.corpora.differences import DIFFERENCES
from tests.corpora.one_file import EQUAL, REFUSED, SKIPPED, UNKNOWN, WRONG, run_file
from tests.corpora.records import Record, Stop, read
from tests.corpora.runs import files_below, run_files, sample
from tests.corpora.undetermined import changes_by_itself, has_unordered_part, order_columns
from tests.engine.support import LONG, an_engine, seed_of
from tests.servers.plugin import unavailable

OWN = Path(__file__).with_name("own.test")


# --- the corpora -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_third_party_files_show_no_wrong_rows() -> None:
    """A sample of the files; all of them with PINAKES_LONG=1."""
    directory = os.environ.get("PINAKES_CORPUS")
    if not directory:
        unavailable("sqllogictest-corpus", "set PINAKES_CORPUS to a directory of *.test files")
    files = sample(files_below(Path(directory)), None if LONG else 40, seed_of("corpora"))
    report = run_files(files, Path(directory), queries=None if LONG else 200)
    wrong = [f"{path}:{o.line}\n{o.sql}\n{o.detail}" for path, o in report.wrong]
    assert not wrong, "\n\n".join([*wrong, report.table()])
    assert any(counts[EQUAL] for counts in report.by_feature.values()), "nothing was compared"


# --- the runner itself -------------------------------------------------------------------------------------------


def test_each_statement_is_classified(tmp_path: Path) -> None:
    for side, differing, turned in (("ours", "1\n2\n", "1\n2\n"), ("theirs", "1\n3\n", "2\n1\n")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "differs.csv").write_text(f"x\n{differing}")
        (tmp_path / side / "other_order.csv").write_text(f"x\n{turned}")
    with an_engine(tmp_path / "data") as engine:
        outcomes = list(run_file(OWN, tmp_path, engine, tmp_path))
    assert [(" ".join(o.sql.split())[:46], o.kind) for o in outcomes] == [
        ("CREATE TABLE t (a INT, b DOUBLE)", EQUAL),
        ("INSERT INTO t VALUES (1, 0.5), (2, NULL), (3, ", EQUAL),
        ("SELECT a, b / 3 FROM t", EQUAL),
        ("SELECT a FROM t ORDER BY a DESC", EQUAL),
        ("CREATE TABLE u (a INT, b INT GENERATED ALWAYS ", REFUSED),
        ("SELECT count(*) FROM u", UNKNOWN),
        ("CREATE TABLE v AS SELECT a FROM u", UNKNOWN),
        ("SELECT count(*) FROM v", UNKNOWN),
        ("CREATE OR REPLACE TABLE v AS SELECT a FROM t", EQUAL),
        ("SELECT count(*) FROM v", EQUAL),
        ("INSERT INTO v SELECT v.a FROM v POSITIONAL JOI", REFUSED),
        ("SELECT count(*) FROM v", UNKNOWN),
        ("SELECT a FROM t LIMIT 2", EQUAL),
        ("SELECT missing FROM t", "refused by both"),
        ("SELECT a + 0 FROM t", EQUAL),
        ("SELECT a + 1 FROM t", EQUAL),
        ("SELECT 1", EQUAL),
        ("SELECT a::INT FROM t", EQUAL),
        ("SELECT a::BIGINT FROM t", EQUAL),
        ("SELECT x FROM '__TEST_DIR__/differs.csv'", WRONG),
        ("SELECT x FROM '__TEST_DIR__/other_order.csv' O", EQUAL),
        ("SELECT x FROM '__TEST_DIR__/other_order.csv' O", EQUAL),
        ("CREATE TABLE w AS SELECT x FROM '__TEST_DIR__/", WRONG),
        ("SELECT * FROM w", UNKNOWN),
        ("", SKIPPED),
    ]
    wrong = next(o for o in outcomes if o.kind == WRONG)
    assert "ours: 2 rows" in wrong.detail
    assert "DuckDB: 2 rows" in wrong.detail


@pytest.mark.slow
def test_a_run_of_files_counts_by_feature_and_gives_up_slow_files(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / "a.test").write_text("query I\nSELECT 1\n----\n1\n")
    report = run_files(files_below(tmp_path), tmp_path)
    assert report.by_feature == {"quick": {EQUAL: 1}}
    assert re.search(r"quick +1\ntotal +1$", report.table())
    assert not report.given_up
    monkeypatch.setattr("tests.corpora.runs.FILE_SECONDS", 0.0)
    report = run_files(files_below(tmp_path), tmp_path)
    assert [(path.name, reason) for path, reason in report.given_up] == [("a.test", "it took too long")]


def test_records_loops_and_conditions_are_read() -> None:
    text = (
        "query II rowsort con1\nSELECT 1\n  + 1\n----\nrows\n\nskipif duckdb\nstatement ok\nno\n\n"
        "foreach a,b x,1 y,2\n\nloop i 0 2\n\nstatement ok con2\n${a} {b} ${i}\n\nendloop\n\nendloop\n\n"
        "mode skip\n\nstatement ok\nno\n\nmode unskip\n\n"
        "foreach t <signed> !hugeint\n\nstatement ok\n${t}\n\nendloop\n\nhalt\n\nstatement ok\nno\n"
    )
    first, *others, last = read(text)
    assert first == Record(1, "SELECT 1\n  + 1", is_query=True, sorted=True, connection="con1")
    assert [r.sql for r in others if isinstance(r, Record)] == [
        "x 1 0", "x 1 1", "y 2 0", "y 2 1", "tinyint", "smallint", "integer", "bigint",
    ]  # fmt: skip
    assert [r.connection for r in others if isinstance(r, Record)][:4] == ["con2"] * 4
    assert isinstance(last, Stop)


# --- comparing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        (pa.array([1, 2], pa.int64()), pa.array([Decimal(2), Decimal(1)]), True),
        (pa.array([1, 2], pa.int64()), pa.array([Decimal(2), Decimal("1.1")]), False),
        (pa.array([0.1 + 0.2]), pa.array([0.3]), True),
        (pa.array([0.3001]), pa.array([0.3]), False),
        (pa.array([float("nan")]), pa.array([float("nan")]), True),
        (pa.array([float("nan")]), pa.array([None], pa.float64()), False),
        (pa.array([1, 1, 2]), pa.array([1, 2, 2]), False),
        (pa.array(["a", None]), pa.array([None, "a"]), True),
        (pa.array(["1"]), pa.array([1]), False),
        (pa.array([True]), pa.array([1]), False),
        (pa.array([date(2024, 1, 2)]), pa.array([datetime(2024, 1, 2)], pa.timestamp("ns")), True),
        (pa.array([datetime(2024, 1, 2, 1)], pa.timestamp("s")), pa.array([datetime(2024, 1, 2)]), False),
        (pa.array([[1, 2], None]), pa.array([None, [1, 2]], pa.large_list(pa.int8())), True),
        (pa.array([[1, 2]]), pa.array([[2, 1]]), False),
        (pa.array([{"a": 1, "b": None}]), pa.array([{"a": 1, "b": "x"}]), False),
        (pa.array([(0, 1, 0)], pa.month_day_nano_interval()), pa.array([86400], pa.duration("s")), True),
    ],
)
def test_values_are_compared_by_what_they_mean(ours: pa.Array, theirs: pa.Array, equal: bool) -> None:
    a, b = pa.table({"x": ours}), pa.table({"x": theirs})
    assert same_multiset(rows(a), rows(b), tolerances(a.schema, b.schema)) is equal


def test_order_is_seen() -> None:
    assert same_rows([(1,), (2,)], [(1,), (2,)], [(0, 0)])
    assert not same_rows([(1,), (2,)], [(2,), (1,)], [(0, 0)])


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT a, b FROM t ORDER BY b, 1", [1, 0]),
        ("SELECT a, b + 1 FROM t ORDER BY b + 1, c, a", [1]),
        ("SELECT a FROM t", []),
        ("SELECT a, b FROM t ORDER BY ALL", [0, 1]),
    ],
)
def test_the_columns_of_an_order_are_found(sql: str, columns: list[int]) -> None:
    assert order_columns(sql, 2) == columns


def test_queries_with_several_right_answers_are_known() -> None:
    assert changes_by_itself("SELECT random()")
    assert has_unordered_part("SELECT a FROM t LIMIT 1")
    assert has_unordered_part("SELECT count(*) FROM (SELECT a FROM t LIMIT 1)")
    assert has_unordered_part("SELECT string_agg(a, ',') FROM t")
    assert has_unordered_part("SELECT row_number() OVER () FROM t")
    assert has_unordered_part("SELECT sum(a) OVER (ROWS 1 PRECEDING) FROM t")
    assert not has_unordered_part("SELECT a FROM t ORDER BY a LIMIT 1")
    assert not has_unordered_part("SELECT row_number() OVER (ORDER BY a), sum(b) OVER (PARTITION BY c) FROM t")
    assert not has_unordered_part("SELECT sum(a), count(*) FROM t")


def test_each_stated_difference_has_a_reason() -> None:
    assert all(d.name and d.reason and d.sql for d in DIFFERENCES)
    assert len({d.name for d in DIFFERENCES}) == len(DIFFERENCES)
