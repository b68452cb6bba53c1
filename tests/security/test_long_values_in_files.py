"""Rows of many MB in files of other programs, which a join repeats: a server checks the values while it reads them.

`SELECT sum(cardinality(a)) FROM 'lists.parquet', range(200000)` asked for 32 GB at once, which ended the process.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from pinakes.config.serving import StatementLimits
from pinakes.engine.engine import Engine
from pinakes.engine.execution.admission import Admission
from pinakes.engine.iceberg.scan.widths import UNKNOWN_ROWS
from pinakes.engine.planning.width_guard import may_repeat
from tests.engine.support import an_engine, do, rows
from tests.security.test_function_results_are_bounded import run

FORMATS = ("parquet", "csv", "arrow", "json")
LONG = 1_000_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("long")
    texts = pa.table({"k": range(16), "s": ["a" * LONG + str(k) for k in range(16)]})
    pq.write_table(texts, found / "w.parquet")
    csv.write_csv(texts, found / "w.csv")
    with pa.ipc.new_file(found / "w.arrow", texts.schema) as writer:
        writer.write_table(texts)
    (found / "w.json").write_text("\n".join(map(json.dumps, texts.to_pylist())))
    pq.write_table(pa.table({"k": [1], "a": [list(range(2_000_000))]}), found / "lists.parquet")
    return found


@pytest.fixture
def server() -> Iterator[Engine]:
    with an_engine(memory_limit=1 << 28) as engine:
        engine.admission = Admission(StatementLimits())
        yield engine


@pytest.mark.slow
def test_long_values_do_not_end_the_process(files: Path) -> None:
    attacks = [
        statement
        for kind in FORMATS
        for statement in (
            f"SELECT sum(length(regexp_replace(s, 'b', 'c'))) FROM '{files}/w.{kind}', range(200000)",
            f"SELECT upper(s) || value::TEXT FROM '{files}/w.{kind}', range(20000)",
        )
    ]
    attacks.append(f"SELECT sum(cardinality(a)) FROM '{files}/lists.parquet', range(200000)")
    found = run(["SET statement_timeout = 2", *attacks, "SELECT 1"], 60)
    assert {answer.get("code", "rows") for answer in found} <= {"rows", "QUERY_TIMEOUT", "OUT_OF_MEMORY"}, found
    assert len(found) == len(attacks) + 2, found


@pytest.mark.parametrize("kind", FORMATS)
def test_the_rows_are_the_same(server: Engine, files: Path, kind: str) -> None:
    sql = f"SELECT k, value, length(upper(s)) FROM '{files}/w.{kind}', range(3) WHERE k IN (3, 12) ORDER BY 1, 2"
    expected = [(k, value, LONG + len(str(k))) for k in (3, 12) for value in range(3)]
    assert rows(server.session(), sql) == expected


def test_lists(server: Engine, files: Path) -> None:
    assert rows(server.session(), f"SELECT sum(cardinality(a)) FROM '{files}/lists.parquet', range(10)") == [
        (20_000_000,)
    ]


def test_a_table_of_another_program(server: Engine, files: Path, tmp_path: Path) -> None:
    session = server.session()
    do(session, "CREATE TABLE t (k BIGINT, s STRING)")
    do(session, f"CALL system.add_files('t', '{files}/w.parquet')")
    do(session, "INSERT INTO t VALUES (17, 'short')")
    summaries = rows(session, 'SELECT summary FROM "t$snapshots"')
    assert [UNKNOWN_ROWS in dict(summary) for (summary,) in summaries] == [True, True]
    assert rows(session, "SELECT sum(length(upper(s))) FROM t, range(10)") == [(10 * (16 * LONG + 27),)]
    do(session, "CREATE TABLE own AS SELECT 1 AS k")
    (summary,) = rows(session, 'SELECT summary FROM "own$snapshots"')[0]
    assert UNKNOWN_ROWS not in dict(summary)


def test_predicates_reach_the_scan(server: Engine, files: Path) -> None:
    sql = f"EXPLAIN SELECT upper(w.s) FROM '{files}/w.parquet' AS w JOIN range(3) ON k = value WHERE s = 'x'"
    plan = str(rows(server.session(), sql))
    assert "partial_filters" in plan or "pruning_predicate" in plan or "predicate=" in plan, plan


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a, b FROM t WHERE x IN (1, 2) ORDER BY a, b", False),
        ("SELECT * FROM t LIMIT 3", False),
        ("select a from t as a, t as b where 1 = 1", True),
        ("SELECT a FROM t WHERE b IN (SELECT c FROM u)", True),
        ("SELECT unnest(a) FROM t", True),
        ("SELECT count(*) FROM t GROUP BY CUBE (a, b)", True),
        ("SELECT a FROM t, range(3)", True),
    ],
)
def test_texts_that_may_repeat_rows(sql: str, expected: bool) -> None:
    assert may_repeat(sql, {("c", "n", "t"): None}) == expected  # type: ignore[dict-item]  # only their number counts
