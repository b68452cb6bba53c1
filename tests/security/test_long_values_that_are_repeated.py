"""Rows with long values that a join repeats: what follows the join copies a batch of them in one step.

`SELECT sum(cardinality(a)) FROM (SELECT array_agg(value) AS a FROM range(2000000)), range(200000)` asked for 524 GB at
once, which ended the process. The statements run in a process with 4 GB of address space, and either answer or are
stopped by their time-out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.engine.iceberg.scan.widths import WIDEST_ROW
from tests.engine.support import an_engine, do, rows
from tests.security.test_function_results_are_bounded import run

LISTS = "(SELECT array_agg(value) AS a FROM range(2000000)) AS w, range(200000)"
TEXTS = "(SELECT string_agg(repeat('a', 1000), '') AS s FROM range(20000)) AS w, range(200000)"
CALLS = "(SELECT value AS k, repeat('a', 1000000 + value) AS s FROM range(16)) AS w, range(200000)"
STORED = "wide, range(200000)"
SETUP = [
    "CREATE TABLE wide AS SELECT value AS k, repeat('a', 1000000) || value::TEXT AS s FROM range(16)",
    "CREATE VIEW agged AS SELECT array_agg(value) AS a FROM range(2000000)",
]
ATTACKS = [
    f"SELECT sum(cardinality(a)) FROM {LISTS}",
    f"SELECT value FROM {LISTS} ORDER BY a, value DESC",
    "SELECT a, unnest(range(100000)) FROM (SELECT array_agg(value) AS a FROM range(2000000))",
    "SELECT array_agg(value), unnest(range(100000)) FROM range(2000000)",
    "SELECT sum(cardinality(a)) FROM agged, range(200000)",
    f"SELECT value FROM {TEXTS} ORDER BY s, value DESC",
    f"SELECT sum(length(regexp_replace(s, 'b', 'c'))) FROM {CALLS}",
    f"SELECT sum(length(regexp_replace(s, 'b', 'c'))) FROM {STORED}",
    f"SELECT k, value FROM {STORED} ORDER BY s, value DESC",
    f"SELECT s, value, count(*) FROM {STORED} GROUP BY s, value",
]


@pytest.mark.slow
def test_long_values_that_a_join_repeats_do_not_end_the_process() -> None:
    found = run([*SETUP, "SET statement_timeout = 3", *ATTACKS, "SELECT 1"], 60)
    codes = [answer.get("code", "rows") for answer in found]
    assert codes[:3] == ["rows"] * 3, found
    assert {*codes[3:-1]} <= {"rows", "QUERY_TIMEOUT", "OUT_OF_MEMORY"}, found
    assert codes[-1] == "rows", found


def test_long_values_give_the_same_rows() -> None:
    with an_engine() as engine:
        session = engine.session()
        long = "(SELECT string_agg(value::TEXT, ',') AS s FROM range(100000)) AS w"
        assert rows(session, f"SELECT length(s), value FROM {long}, range(3) ORDER BY value") == [
            (588_889, value) for value in range(3)
        ]
        do(session, f"CREATE TABLE t AS SELECT s, value FROM {long}, range(3)")
        assert rows(session, "SELECT count(*), min(length(s)) FROM t") == [(3, 588_889)]


def test_a_commit_records_the_longest_row(tmp_path: Path) -> None:
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT repeat('a', 5000) AS s, [1, 2] AS n")
        do(session, "INSERT INTO t SELECT 'short', [3]")
    with an_engine(tmp_path / "lake") as engine:  # what the process knew is gone with the engine's metadata
        summaries = rows(engine.session(), 'SELECT summary FROM "t$snapshots" ORDER BY committed_at')
    assert [dict(summary)[WIDEST_ROW] for (summary,) in summaries] == ["5004", "5004"]


def test_short_rows_are_not_recorded(tmp_path: Path) -> None:
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT value, 'text' AS s, {'a': value} AS r FROM range(100000)")
        (summary,) = rows(session, 'SELECT summary FROM "t$snapshots"')[0]
    assert WIDEST_ROW not in dict(summary)
