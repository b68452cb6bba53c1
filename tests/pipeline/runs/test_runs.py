"""Runs of a pipeline, on a real Spark: what comes into the tables, what is recorded, and what a failure leaves."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from pinakes.api import pipelines
from pinakes.api.pipelines import Options
from pinakes.core.errors import InvalidArgument, PipelineFailed
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.pipeline.runs.support import project, run, values

pytestmark = pytest.mark.slow

SQL = """
CREATE MATERIALIZED VIEW clean PARTITIONED BY (k) AS SELECT raw.k, v FROM raw;
CREATE STREAMING TABLE log AS SELECT k, v FROM STREAM raw WHERE v > 7;
CREATE TEMPORARY VIEW sums AS SELECT k, sum(v) AS s FROM clean GROUP BY k;
"""
EXPECTED = "expectations:\n  clean:\n  - {name: some, expect: v > 2, action: drop}\n  - {name: many, expect: v > 5}\n"
PYTHON = """
@dp.materialized_view(comment="sums and numbers")
@expect("positive", "s > 0", action="fail")
def daily():
    logged = spark.table("log").groupBy("k").agg(F.count("*").alias("n"))
    return spark.table("sums").join(logged, "k", "left")

@dp.table
def few():
    return spark.readStream.table("log").where("v > 8").select("v")

@dp.append_flow(target="few")
def more():
    return spark.readStream.table("raw").where("v = 1").select("v")
"""


@pytest.fixture
def shop(session: Session, tmp_path: Path) -> str:
    """A schema of its own, with a table of the numbers from 0 to 9."""
    name = f"shop_{secrets.token_hex(4)}"
    session.run(f"CREATE SCHEMA lake.{name}").read_all()
    session.run(
        f"CREATE TABLE lake.{name}.raw AS SELECT value % 2 AS k, value AS v FROM generate_series(0, 9)"
    ).read_all()
    return name


@pytest.fixture
def spec(shop: str, tmp_path: Path) -> Path:
    path = project(tmp_path, EXPECTED, SQL, PYTHON, shop)
    path.write_text(path.read_text().replace("name: shop", f"name: {shop}"))
    return path


def records(session: Session, shop: str, table: str, columns: str, order: str = "1") -> list[tuple[object, ...]]:
    return values(session, f"SELECT {columns} FROM system.pipeline.{table} WHERE pipeline = '{shop}' ORDER BY {order}")


def test_tables_of_all_kinds(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    plan = {step.name: step for step in pipelines.plan(engine, spec, Options())}
    assert [step.what for step in plan.values()] == ["created", "created", "defined for the run", "created", "created"]
    assert plan["daily"].inputs == ("sums", "log")
    report = run(engine, spec)
    assert report.state == "COMPLETED"
    assert values(session, f"SELECT k, v FROM lake.{shop}.clean ORDER BY v") == [(v % 2, v) for v in range(3, 10)]
    assert values(session, f"SELECT * FROM lake.{shop}.daily ORDER BY k") == [(0, 18, 1), (1, 24, 1)]
    assert values(session, f"SELECT v FROM lake.{shop}.few ORDER BY v") == [(1,), (9,)]
    found = records(session, shop, "expectations", "expectation, action, passed_rows, failed_rows")
    assert found == [("many", "warn", 4, 6), ("positive", "fail", 2, 0), ("some", "drop", 7, 3)]
    kinds = records(session, shop, "tables", "table_name, kind, state, rows")
    assert kinds == [
        ("clean", "materialized_view", "COMPLETED", 7),
        ("daily", "materialized_view", "COMPLETED", 2),
        ("few", "table", "COMPLETED", 2),
        ("log", "table", "COMPLETED", 2),
    ]
    lineage = records(session, shop, "lineage", "table_name, source_name, flow, snapshot_id IS NULL", "1, 2")
    assert ("daily", "clean", "daily", False) in lineage  # by way of the view
    assert ("few", "raw", "more", False) in lineage
    signed = f"""SELECT count(*) FROM lake.{shop}."clean$snapshots"
        WHERE summary['pinakes.pipeline.run-id'] = '{report.run_id}'"""
    assert values(session, signed) == [(1,)]


def test_only_new_rows_come_into_incremental_tables(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    run(engine, spec)
    first = values(session, f'SELECT count(*) FROM lake.{shop}."log$snapshots"')
    run(engine, spec)
    assert values(session, f'SELECT count(*) FROM lake.{shop}."log$snapshots"') == first  # nothing new, no commit
    session.run(f"INSERT INTO lake.{shop}.raw VALUES (1, 1), (1, 11)").read_all()
    session.run(f"INSERT INTO lake.{shop}.raw VALUES (0, 12)").read_all()
    run(engine, spec)
    assert values(session, f"SELECT v FROM lake.{shop}.log ORDER BY v") == [(8,), (9,), (11,), (12,)]
    assert values(session, f"SELECT v FROM lake.{shop}.few ORDER BY v") == [(1,), (1,), (9,), (11,), (12,)]
    states = records(session, shop, "tables", "state", "started_at")
    assert states.count(("UNCHANGED",)) == 2
    # What is changed at the source can't be told by new rows: nothing is done until all is made anew.
    session.run(f"DELETE FROM lake.{shop}.raw WHERE v = 11").read_all()
    with pytest.raises(PipelineFailed, match="--full-refresh log"):
        run(engine, spec)
    assert values(session, f"SELECT count(*) FROM lake.{shop}.log") == [(4,)]
    run(engine, spec, full_refresh=["log"])
    assert values(session, f"SELECT v FROM lake.{shop}.log ORDER BY v") == [(8,), (9,), (12,)]
    assert values(session, f"SELECT v FROM lake.{shop}.few ORDER BY v") == [(1,), (1,), (9,), (12,)]


def test_a_failure_leaves_the_last_good_state(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    run(engine, spec)
    before = values(session, f"SELECT * FROM lake.{shop}.daily ORDER BY k")
    broken = spec.parent / "transformations" / "tables.sql"
    good = broken.read_text()
    broken.write_text(good.replace("sum(v) AS s", "sum(v) - 100 AS s"))
    with pytest.raises(
        PipelineFailed, match=r"'daily' \(transformations/tables.py:8\).*'positive' does not hold \(2 of 2"
    ):
        run(engine, spec)
    assert values(session, f"SELECT * FROM lake.{shop}.daily ORDER BY k") == before
    assert values(session, f"""SELECT name FROM lake.{shop}."daily$refs" """) == [("main",)]
    assert records(session, shop, "runs", "state", "started_at") == [("COMPLETED",), ("FAILED",)]
    failed = records(session, shop, "expectations", "expectation, failed_rows", "recorded_at DESC")
    assert failed[0] == ("positive", 2)
    broken.write_text(good)
    assert run(engine, spec, resume=True).state == "COMPLETED"
    assert records(session, shop, "runs", "state", "started_at") == [("COMPLETED",), ("COMPLETED",)]
    with pytest.raises(InvalidArgument, match="no run of"):
        run(engine, spec, resume=True)


def test_what_is_made_of_a_failed_table_is_skipped(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    broken = spec.parent / "transformations" / "tables.sql"
    broken.write_text(broken.read_text().replace("SELECT raw.k, v FROM raw", "SELECT raw.k, nothing AS v FROM raw"))
    with pytest.raises(PipelineFailed) as failure:
        run(engine, spec)
    assert "'clean' (transformations/tables.sql:2)" in failure.value.message
    assert "nothing" in failure.value.message
    states = records(session, shop, "tables", "table_name, state")
    assert states == [("clean", "FAILED"), ("daily", "SKIPPED"), ("few", "COMPLETED"), ("log", "COMPLETED")]


def test_columns_change_with_the_definition(engine: Engine, session: Session, shop: str, tmp_path: Path) -> None:
    sql = "CREATE MATERIALIZED VIEW a{} AS SELECT k, v{} FROM raw"
    spec = project(tmp_path, "", sql.format("", ""), schema=shop)
    run(engine, spec)
    project(tmp_path, "", sql.format(" PARTITIONED BY (bucket(2, v))", ", 'x' AS w"), schema=shop)
    run(engine, spec)
    assert values(session, f"SELECT DISTINCT w FROM lake.{shop}.a") == [("x",)]
    assert values(session, f'SELECT count(*) FROM lake.{shop}."a$snapshots"') == [(2,)]  # the old rows can be seen yet
    project(tmp_path, "", sql.format(" (k INT, v BIGINT, w INT)", ", 'x' AS w"), schema=shop)
    with pytest.raises(PipelineFailed, match=r"'a' .*tables\.sql"):  # declared one type, and gives another
        run(engine, spec)
    assert values(session, f"SELECT DISTINCT w FROM lake.{shop}.a") == [("x",)]


def test_selected_tables_only(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    run(engine, spec, select=["clean", "log"])
    assert records(session, shop, "tables", "table_name") == [("clean",), ("log",)]


def test_a_run_that_was_killed_is_reported(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    run(engine, spec, select=["clean"])
    session.run(
        f"INSERT INTO lake.pinakes_pipeline.runs (run_id, pipeline, state, started_at, host, process) "
        f"VALUES ('gone', '{shop}', 'RUNNING', TIMESTAMP '2026-01-01 00:00:00Z', 'another host', '1')"
    ).read_all()
    run(engine, spec, select=["clean"])
    assert values(session, "SELECT state FROM system.pipeline.runs WHERE run_id = 'gone'") == [("INTERRUPTED",)]


def test_somebody_elses_change_is_not_lost(engine: Engine, session: Session, shop: str, spec: Path) -> None:
    """A table that changes while it is made stays as the other one made it: the run can be done again."""
    from pinakes.core.errors import CommitConflict
    from pinakes.pipelines.runs.tables import make_branch, publish, table_of

    run(engine, spec, select=["log"])
    key = ("lake", shop, "log")
    table = table_of(session, key)
    assert table is not None
    expected = make_branch(session, key, table, "late")
    session.run(f"INSERT INTO lake.{shop}.log VALUES (5, 50)").read_all()
    with pytest.raises(CommitConflict, match="changed by another writer"):
        publish(session, key, "late", expected, {})
    run(engine, spec, full_refresh=["log"], select=["log"])
    assert values(session, f"""SELECT name FROM lake.{shop}."log$refs" """) == [("main",)]
