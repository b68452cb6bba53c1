"""Rows that only this process can read, on Spark: files, temporary tables, workers and system tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.engine.session import Session
from tests.engine.support import rows
from tests.worker.support import example

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def tables(session: Session) -> None:
    session.run("CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(k, w)").read_all()


def there(session: Session, sql: str) -> list[tuple[object, ...]]:
    """Its answer by Spark, which is that of this engine."""
    found = rows(session, sql.replace("SELECT", "SELECT /*+ ENGINE(spark) */", 1))
    assert session.engine.tracker.snapshot()[-1].engine == "spark"
    assert found == rows(session, sql)
    return found


def test_files(session: Session, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("k,v\n1,x\n2,y\n3,z\n")
    assert there(session, f"SELECT w, v FROM t JOIN '{tmp_path}/f.csv' USING (k) ORDER BY w") == [
        ("a", "x"),
        ("b", "y"),
    ]


def test_a_temporary_table(session: Session) -> None:
    session.run("CREATE TEMP TABLE mine AS SELECT 2 AS k, 9 AS n").read_all()
    assert there(session, "SELECT w, n FROM t JOIN mine USING (k)") == [("b", 9)]


def test_system_tables_beside_others(session: Session) -> None:
    sql = "SELECT w, column_name FROM t CROSS JOIN information_schema.columns WHERE table_name = 't' ORDER BY 1, 2"
    assert there(session, sql) == [("a", "k"), ("a", "w"), ("b", "k"), ("b", "w")]


def test_system_tables_alone_are_asked_here(session: Session) -> None:
    sql = "SELECT /*+ ENGINE(spark) */ column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY 1"
    assert rows(session, sql) == [("k",), ("w",)]
    assert session.engine.tracker.snapshot()[-1].engine == "local"
    assert rows(session, "SELECT /*+ ENGINE(spark) */ count(*) > 0 FROM system.runtime.queries") == [(True,)]


def test_a_worker(session: Session) -> None:
    location = example("users").replace("'", "''")
    session.run(f"ATTACH 'people' (TYPE vgi, LOCATION '{location}')").read_all()
    found = rows(session, "SELECT table_schema, table_name FROM people.information_schema.tables LIMIT 1")
    (schema, table) = found[0]
    assert there(session, f"SELECT count(*) FROM people.{schema}.{table}, t")[0][0] > 0
