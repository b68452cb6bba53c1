"""Changes on Spark: one commit each, seen here at once, counted as here, and refused where they can't be the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.core.errors import ConstraintViolation, NotSupportedError, PinakesError
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import rows

pytestmark = pytest.mark.slow


@pytest.fixture
def spark(session: Session) -> Iterator[Session]:
    session.run(
        "CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c')) AS v(k, w)"
    ).read_all()
    session.run("SET engine = 'spark'").read_all()
    yield session
    session.run("SET engine = 'local'").read_all()


def count(session: Session, sql: str) -> int | None:
    result = session.run(sql)
    result.read_all()
    return result.count


def here(session: Session, sql: str) -> list[tuple[object, ...]]:
    return rows(session, sql.replace("SELECT", "SELECT /*+ ENGINE(local) */", 1))


def test_rows_are_inserted(spark: Session) -> None:
    assert count(spark, "INSERT INTO t SELECT k + 10, w || '!' FROM t WHERE k > 1") == 2
    assert count(spark, "INSERT INTO t (w) VALUES ('alone')") == 1
    assert here(spark, "SELECT k, w FROM t ORDER BY k, w") == [
        *((1, "a"), (2, "b"), (3, "c"), (12, "b!"), (13, "c!"), (None, "alone"))
    ]


def test_a_table_is_made(spark: Session) -> None:
    sql = "CREATE TABLE made PARTITIONED BY (bucket(4, k)) TBLPROPERTIES ('x' = 'y''z') AS SELECT k, k / 2 AS h FROM t"
    assert count(spark, sql) == 3
    assert here(spark, "SELECT k, h FROM made ORDER BY k") == [(1, 0), (2, 1), (3, 1)]
    table = spark.resolver.table(Name.of("made"))[1].handle
    assert [str(field.transform) for field in table.spec().fields] == ["bucket[4]"]
    assert table.properties["x"] == "y'z"
    assert count(spark, "CREATE OR REPLACE TABLE made AS SELECT 'other' AS o") == 1
    assert here(spark, "SELECT * FROM made") == [("other",)]
    with pytest.raises(PinakesError, match="exists"):
        spark.run("CREATE TABLE made AS SELECT 1 AS x").read_all()


def test_rows_are_deleted_and_updated(spark: Session) -> None:
    assert count(spark, "UPDATE t SET w = w || k, k = k + 1 WHERE k >= 2") == 2
    assert here(spark, "SELECT k, w FROM t ORDER BY k") == [(1, "a"), (3, "b2"), (4, "c3")]
    assert count(spark, "DELETE FROM t WHERE k IN (SELECT k FROM t WHERE w LIKE 'b%')") == 1
    assert count(spark, "DELETE FROM t WHERE k > 100") == 0
    assert count(spark, "DELETE FROM t") == 2
    assert here(spark, "SELECT count(*) FROM t") == [(0,)]


def test_a_table_is_made_as_it_is_defined(spark: Session) -> None:
    sql = """CREATE OR REPLACE TABLE defined (k BIGINT NOT NULL COMMENT 'the key', w VARCHAR, PRIMARY KEY (k))
      SORTED BY (w DESC) AS SELECT k, w FROM t"""
    for _ in range(2):
        assert count(spark, sql) == 3
        assert here(spark, "SELECT k, w FROM defined ORDER BY k") == [(1, "a"), (2, "b"), (3, "c")]
        table = spark.resolver.table(Name.of("defined"))[1].handle
        key = table.schema().find_field("k")
        assert (key.required, key.doc, str(key.field_type)) == (True, "the key", "long")
        assert table.schema().identifier_field_ids == [key.field_id]
        (sort,) = table.sort_order().fields
        assert table.schema().find_column_name(sort.source_id) == "w"
    assert count(spark, "INSERT INTO defined VALUES (4, NULL)") == 1
    for sql in (
        "INSERT INTO defined VALUES (CAST(NULL AS BIGINT), 'x')",
        "CREATE TABLE wrong (k BIGINT NOT NULL) AS SELECT CAST(NULL AS BIGINT)",
    ):
        with pytest.raises(ConstraintViolation, match="NOT NULL"):
            spark.run(sql).read_all()
    assert here(spark, "SELECT count(*) FROM defined") == [(4,)]
    assert count(spark, "CREATE TABLE empty AS SELECT * FROM t WITH NO DATA") == 0


def test_rows_go_by_name_and_in_place_of_others(spark: Session) -> None:
    assert count(spark, "INSERT INTO t BY NAME SELECT 'd' AS w, 4 AS k") == 1
    assert here(spark, "SELECT w FROM t WHERE k = 4") == [("d",)]
    assert count(spark, "INSERT OVERWRITE t SELECT 7, 'x'") == 1
    assert here(spark, "SELECT k, w FROM t") == [(7, "x")]
    assert count(spark, "INSERT OVERWRITE t SELECT k, w FROM t WHERE k < 0") == 0
    assert here(spark, "SELECT count(*) FROM t") == [(0,)]


def test_partitions_are_replaced(spark: Session) -> None:
    count(spark, "CREATE TABLE p PARTITIONED BY (k) AS SELECT * FROM t")
    spark.run("SET partition_overwrite_mode = 'dynamic'").read_all()
    try:
        assert count(spark, "INSERT OVERWRITE p VALUES (2, 'new'), (2, 'newer'), (5, 'e')") == 3
        assert count(spark, "INSERT OVERWRITE p SELECT * FROM t WHERE k < 0") == 0
        found = here(spark, "SELECT k, w FROM p ORDER BY k, w")
        assert found == [(1, "a"), (2, "new"), (2, "newer"), (3, "c"), (5, "e")]
    finally:
        spark.run("RESET partition_overwrite_mode").read_all()
    assert count(spark, "INSERT OVERWRITE p VALUES (9, 'all')") == 1
    assert here(spark, "SELECT k, w FROM p") == [(9, "all")]


def test_rows_are_merged(spark: Session) -> None:
    sql = """MERGE INTO t USING (SELECT * FROM (VALUES (1, 'x'), (2, 'gone'), (9, 'new')) AS v(k, w)) AS s ON t.k = s.k
      WHEN MATCHED AND s.w = 'gone' THEN DELETE
      WHEN MATCHED THEN UPDATE SET w = s.w
      WHEN NOT MATCHED THEN INSERT (k, w) VALUES (s.k, s.w)
      WHEN NOT MATCHED BY SOURCE THEN UPDATE SET w = 'lonely'"""
    assert count(spark, sql) == 4
    assert here(spark, "SELECT k, w FROM t ORDER BY k") == [(1, "x"), (3, "lonely"), (9, "new")]


def test_rows_are_merged_by_names_that_only_one_side_can_mean(spark: Session) -> None:
    sql = """MERGE INTO t USING (SELECT * FROM (VALUES (1, 'x'), (9, 'new')) AS v(k, w)) AS s ON t.k = s.k
      WHEN MATCHED AND t.w = 'a' THEN DO NOTHING
      WHEN MATCHED THEN UPDATE SET w = s.w
      WHEN NOT MATCHED AND w IS NOT NULL THEN INSERT (k, w) VALUES (k, w)
      WHEN NOT MATCHED BY SOURCE AND k > 2 THEN DELETE"""
    assert count(spark, sql) == 2
    assert here(spark, "SELECT k, w FROM t ORDER BY k") == [(1, "a"), (2, "b"), (9, "new")]


def test_each_is_signed_and_seen_by_other_sessions(spark: Session, engine: Engine) -> None:
    other = engine.session()
    assert rows(other, "SELECT count(*) FROM lake.s.t") == [(3,)]
    count(spark, "INSERT INTO t VALUES (4, 'd')")
    assert rows(other, "SELECT count(*) FROM lake.s.t") == [(4,)]
    summary = dict(rows(other, 'SELECT summary FROM lake.s."t$snapshots" ORDER BY committed_at DESC LIMIT 1')[0][0])
    assert summary["engine-name"] == "spark"
    assert summary["pinakes.query-id"] in [q.query_id for q in engine.tracker.snapshot() if q.engine == "spark"]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO t SELECT 1.5, 'x'",
        "DELETE FROM t USING t AS o WHERE t.k = o.k",
        "UPDATE t SET w = initcap(w)",
        "MERGE INTO t USING t AS s ON t.k = s.k WHEN MATCHED THEN DO NOTHING",
    ],
)
def test_what_can_not_be_the_same_is_refused_and_changes_nothing(spark: Session, sql: str) -> None:
    with pytest.raises(NotSupportedError, match="Spark"):
        spark.run(sql).read_all()
    assert here(spark, "SELECT count(*), min(w), max(w) FROM t") == [(3, "a", "c")]


def test_a_transaction_stays_here(spark: Session) -> None:
    spark.run("BEGIN").read_all()
    try:
        with pytest.raises(NotSupportedError, match="transaction"):
            spark.run("INSERT INTO t VALUES (5, 'e')").read_all()
    finally:
        spark.run("ROLLBACK").read_all()


def test_a_table_with_check_constraints_is_not_written(spark: Session) -> None:
    spark.run("CREATE OR REPLACE TABLE checked (k INT CHECK (k > 0))").read_all()
    for sql in (
        "INSERT INTO checked SELECT 1",
        "UPDATE checked SET k = 2",
        "CREATE TABLE m (k INT CHECK (k > 0)) AS SELECT 1",
    ):
        with pytest.raises(NotSupportedError, match="CHECK constraint"):
            spark.run(sql).read_all()
    spark.run("INSERT /*+ ENGINE(local) */ INTO checked SELECT 1").read_all()
    assert count(spark, "DELETE FROM checked WHERE k = 1") == 1


def test_sql_functions_are_expanded(spark: Session) -> None:
    spark.run("CREATE OR REPLACE FUNCTION dbl(x BIGINT) RETURNS BIGINT RETURN x + x").read_all()
    spark.run("CREATE OR REPLACE MACRO from_k(least) AS TABLE SELECT * FROM t WHERE k >= least").read_all()
    assert rows(spark, "SELECT dbl(k), f.w FROM from_k(2) AS f ORDER BY 1") == [(4, "b"), (6, "c")]
    assert count(spark, "INSERT INTO t SELECT dbl(k) + 100, w FROM t WHERE k = 1") == 1
    assert here(spark, "SELECT k FROM t WHERE k > 100") == [(102,)]
