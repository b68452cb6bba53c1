"""Which engine runs a statement: SET engine, the hint, and `auto` by the estimate that EXPLAIN FULL shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pinakes.api.build import open_engine
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.engine.session import Session
from tests.engine.support import info_of
from tests.pipeline.conftest import config_of
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def low(spark_connect_server: Facts) -> Iterator[Session]:
    """Of an engine for which few bytes are many."""
    config = config_of(spark_connect_server)
    with open_engine(replace(config, given_spark=replace(config.spark, threshold=5000))) as engine:
        session = engine.session()
        session.run("CREATE TABLE lake.default.small AS SELECT 1 AS k").read_all()
        session.run(
            "CREATE TABLE lake.default.large PARTITIONED BY (p) AS "
            "SELECT value AS k, value % 8 AS p, md5(CAST(value AS VARCHAR)) AS w FROM generate_series(1, 20000)"
        ).read_all()
        session.run("CREATE TABLE lake.default.one_file AS SELECT k, w FROM lake.default.large").read_all()
        session.run("SET engine = 'auto'").read_all()
        yield session


def explained(session: Session, sql: str) -> dict[str, str]:
    text = session.run(f"EXPLAIN FULL FORMAT JSON {sql}").read_all().column(0)[0].as_py()
    found: dict[str, str] = json.loads(text)["engine"]
    return found


def ran_on(session: Session, sql: str) -> str:
    session.run(sql).read_all()
    return info_of(session.engine, sql).engine


def test_auto_goes_by_the_bytes_that_are_planned_to_be_read(low: Session) -> None:
    for sql, engine in (
        ("SELECT count(*) AS a FROM small WHERE k > 0", "local"),
        ("SELECT min(w) AS b FROM large", "spark"),
        ("SELECT min(w) AS b1 FROM one_file", "spark"),
        ("SELECT initcap(min(w)) AS c FROM large", "local"),
    ):
        assert ran_on(low, sql) == engine
    told = explained(low, "SELECT min(w) FROM large")
    assert told["name"] == "spark"
    assert "threshold of 5,000" in told["why"]
    assert explained(low, "SELECT k FROM small")["name"] == "local"


def test_what_is_kept_in_memory_has_to_fit_there(spark_connect_server: Facts) -> None:
    config = config_of(spark_connect_server)
    engine = replace(config.engine, memory_limit=32_000_000)
    with open_engine(replace(config, engine=engine)) as opened:
        session = opened.session()
        session.run(
            "CREATE TABLE t AS SELECT value AS k, sha512(CAST(value AS VARCHAR)) AS w FROM generate_series(1, 600000)"
        ).read_all()
        session.run("SET engine = 'auto'").read_all()
        for sql, choice in (
            ("SELECT count(*) FROM t WHERE w > 'a'", "local"),
            ("SELECT w, count(*) FROM t GROUP BY w", "spark"),
            ("SELECT a.k FROM t AS a JOIN t AS b ON a.w = b.w", "spark"),
            ("SELECT w FROM t ORDER BY w", "spark"),
        ):
            assert explained(session, sql)["name"] == choice, sql
        assert "memory limit of 32,000,000" in explained(session, "SELECT w FROM t ORDER BY w")["why"]


def test_auto_looks_at_what_remains_after_pruning(low: Session) -> None:
    planned = [
        int(explained(low, sql)["why"].split()[1].replace(",", ""))
        for sql in ("SELECT min(w) FROM large WHERE p = 3", "SELECT min(w) FROM large")
    ]
    assert planned[0] * 4 < planned[1]


def test_auto_stays_here_in_a_transaction_and_in_another_time_zone(low: Session) -> None:
    low.run("BEGIN").read_all()
    assert ran_on(low, "SELECT max(w) AS d FROM large") == "local"
    low.run("ROLLBACK").read_all()
    low.run("SET time_zone = 'Europe/Athens'").read_all()
    assert ran_on(low, "SELECT max(w) AS e FROM large") == "local"
    assert "time zone" in explained(low, "SELECT max(w) FROM large")["why"]
    low.run("RESET time_zone").read_all()


def test_a_hint_counts_for_its_statement(low: Session) -> None:
    assert ran_on(low, "SELECT /*+ ENGINE(local) */ max(k) AS f FROM large") == "local"
    assert ran_on(low, "SELECT /*+ ENGINE(spark) */ max(k) AS g FROM small") == "spark"
    assert ran_on(low, "SELECT '/*+ ENGINE(spark) */' AS h FROM small") == "local"
    with pytest.raises(InvalidArgument, match="no engine 'trino'"):
        low.run("SELECT /*+ ENGINE(trino) */ 1").read_all()


def test_spark_refuses_what_auto_would_do_here(low: Session) -> None:
    with pytest.raises(NotSupportedError, match="initcap"):
        low.run("SELECT /*+ ENGINE(spark) */ initcap(w) FROM large").read_all()
