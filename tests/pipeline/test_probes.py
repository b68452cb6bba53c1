"""Functions and operators: each gives the same on Spark, or is refused by name."""

from __future__ import annotations

import pytest

from pinakes.engine.session import Session
from tests.pipeline.probes import AGGREGATES, ALIKE, REFUSED
from tests.pipeline.support import VALUES, differences, on_spark, refusal

pytestmark = pytest.mark.slow

TOGETHER = 30
"""Probes that are asked for in one query: each query costs Spark some time."""


def parts(probes: list[str]) -> list[list[str]]:
    return [probes[at : at + TOGETHER] for at in range(0, len(probes), TOGETHER)]


@pytest.fixture(scope="module")
def table(session: Session) -> Session:
    session.run(VALUES).read_all()
    return session


def check(session: Session, probes: list[str], tail: str) -> None:
    sql = "SELECT " + ", ".join(f"{probe} AS v{at}" for at, probe in enumerate(probes)) + tail
    found = differences(session.run(sql).read_all(), on_spark(session, sql))
    named = dict(zip((f"v{at}" for at in range(len(probes))), probes, strict=True))
    assert [f"{named[message.partition(':')[0]]} {message}" for message in found] == []


@pytest.mark.parametrize("probes", parts(ALIKE), ids=lambda probes: probes[0])
def test_expressions_give_the_same(table: Session, probes: list[str]) -> None:
    check(table, probes, " FROM p ORDER BY i, l")


@pytest.mark.parametrize("probes", parts(AGGREGATES), ids=lambda probes: probes[0])
def test_aggregates_give_the_same(table: Session, probes: list[str]) -> None:
    check(table, probes, " FROM p")


def test_aggregates_of_groups_and_of_nothing_give_the_same(table: Session) -> None:
    grouped = [probe for probe in AGGREGATES if "/ sum(i)" not in probe]  # some group's is 0
    for probes in apart(grouped):
        check(table, probes, " FROM p GROUP BY b ORDER BY b")
    for probes in apart(AGGREGATES):
        check(table, probes, " FROM p WHERE i = 12345")


def apart(probes: list[str]) -> tuple[list[str], list[str]]:
    """Spark 4.1 can't plan its listagg beside a DISTINCT, which is refused."""
    lists = [probe for probe in probes if probe.startswith("string_agg")]
    return [probe for probe in probes if probe not in lists], lists


@pytest.mark.parametrize("probe", REFUSED)
def test_what_is_not_known_to_agree_is_refused(table: Session, probe: str) -> None:
    message = refusal(table, f"SELECT {probe} AS v FROM p")
    assert message is not None
    assert "Spark" in message


def test_lists_next_to_distinct_values_are_refused(table: Session) -> None:
    lists = "string_agg(s, ',' ORDER BY s)"
    message = refusal(table, f"SELECT {lists}, count(DISTINCT b) FROM p")
    assert message is not None
    assert "string_agg next to" in message
    assert refusal(table, f"SELECT {lists}, (SELECT count(DISTINCT b) FROM p) FROM p") is None


def test_there_are_enough_of_them() -> None:
    assert len(ALIKE) + len(AGGREGATES) + len(REFUSED) >= 250


QUERIES = (
    "SELECT * FROM p ORDER BY i",
    "SELECT i AS a, s AS b FROM p ORDER BY 1 DESC, 2",
    "SELECT b, count(*), sum(q) FROM p GROUP BY b ORDER BY 1",
    "SELECT b, d, sum(i) FROM p GROUP BY ROLLUP (b, d) ORDER BY 1, 2, 3",
    "SELECT s FROM p WHERE i IN (SELECT i FROM p WHERE i > 0) ORDER BY s",
    "SELECT s FROM p WHERE EXISTS (SELECT 1 FROM p AS o WHERE o.i = p.i + 4) ORDER BY s",
    "SELECT x.i, y.s FROM p AS x LEFT JOIN p AS y ON x.i = y.l ORDER BY 1, 2",
    "SELECT x.i, y.i FROM p AS x FULL JOIN p AS y ON x.i = y.l ORDER BY 1, 2",
    "SELECT i FROM p WHERE i > 0 UNION ALL SELECT 3 ORDER BY 1",
    "SELECT i FROM p INTERSECT SELECT CAST(l AS INT) FROM p WHERE l < 100 ORDER BY 1",
    "SELECT i FROM p EXCEPT SELECT 1 ORDER BY 1",
    "SELECT DISTINCT b FROM p ORDER BY b NULLS FIRST",
    "WITH w AS (SELECT i, q FROM p), v (a, b) AS (SELECT * FROM w) SELECT sum(a), avg(b) FROM v",
    "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(n, t) ORDER BY t",
    "SELECT i, (SELECT max(l) FROM p AS o WHERE o.b = p.b) AS m FROM p ORDER BY i",
    "SELECT s FROM p ORDER BY i LIMIT 2 OFFSET 1",
    'SELECT i AS "Big", s AS "with space" FROM p ORDER BY "Big" DESC',
    "SELECT sum(i) AS total FROM p HAVING count(*) > 3",
    "SELECT s || '`t$0`' || '\\' AS odd FROM p ORDER BY i",
    "SELECT 1 AS one",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_queries_give_the_same_in_the_same_order(table: Session, sql: str) -> None:
    assert differences(table.run(sql).read_all(), on_spark(table, sql)) == []


def test_parameters_are_values(table: Session) -> None:
    sql = "SELECT i + $1 AS n, s || $2 AS t FROM p WHERE i > $3 ORDER BY 1"
    values = [5, "it's", -100]
    assert on_spark(table, sql, values).equals(table.run(sql, values).read_all())


def test_views_temporary_tables_and_files_are_read(table: Session, tmp_path: object) -> None:
    table.run("CREATE VIEW v AS SELECT i * 2 AS twice, s FROM p WHERE i IS NOT NULL").read_all()
    table.run("CREATE TEMP TABLE t AS SELECT 1 AS i, 'temporary' AS word").read_all()
    table.run(f"COPY (SELECT i, l FROM p) TO '{tmp_path}/p.parquet'").read_all()
    sql = f"SELECT v.*, t.word, f.l FROM v JOIN t ON v.twice = t.i * 2 JOIN '{tmp_path}/p.parquet' AS f ON f.i = t.i"
    assert on_spark(table, sql).equals(table.run(sql).read_all())


def test_a_table_as_it_was(table: Session) -> None:
    table.run("CREATE TABLE h AS SELECT 1 AS n").read_all()
    snapshot = table.run('SELECT snapshot_id FROM "h$snapshots"').read_all().column(0)[0].as_py()
    table.run("INSERT INTO h VALUES (2)").read_all()
    assert on_spark(table, "SELECT count(*) AS n FROM h").to_pylist() == [{"n": 2}]
    assert on_spark(table, f"SELECT n FROM h FOR VERSION AS OF {snapshot}").to_pylist() == [{"n": 1}]
