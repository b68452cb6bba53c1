"""A real cluster of a master and two workers: nodes, tasks, cancel, progress, and an executor that is killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from pinakes.api.build import open_engine
from pinakes.core.errors import QueryCanceled
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import in_thread, info_of, rows, wait_until
from tests.pipeline.conftest import config_of
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

LONG_QUERY = "SELECT /*+ ENGINE(spark) */ count(*) AS n FROM t AS a JOIN t AS b ON a.k % 7 = b.k % 7 WHERE a.w < b.w"


@pytest.fixture(scope="module")
def cluster(spark_cluster_server: Facts) -> Iterator[Engine]:
    with open_engine(config_of(spark_cluster_server)) as engine:
        yield engine


@pytest.fixture(scope="module")
def table(cluster: Engine) -> Session:
    session = cluster.session()
    session.run("USE lake.default").read_all()
    session.run(
        "CREATE TABLE t PARTITIONED BY (p) AS SELECT value AS k, value % 4 AS p, md5(CAST(value AS VARCHAR)) AS w "
        "FROM generate_series(1, 40000)"
    ).read_all()
    return session


def running_tasks(session: Session) -> list[tuple[Any, ...]]:
    return rows(session, "SELECT node_id, query_id FROM system.runtime.tasks WHERE state = 'RUNNING'")


def test_executors_and_their_tasks_are_seen(table: Session, cluster: Engine) -> None:
    sql = "SELECT /*+ ENGINE(spark) */ p, count(*) AS n, min(w) AS w FROM t GROUP BY p ORDER BY p"
    assert [row[:2] for row in rows(table, sql)] == [(p, 10000) for p in range(4)]
    nodes = wait_until(lambda: _executors(table), "two executors")
    assert all(":" in node and cores == 1 and memory > 0 for node, cores, memory in nodes)
    query = info_of(cluster, sql).query_id
    tasks = wait_until(lambda: _ended_tasks(table, query), "tasks that are over")
    assert {node for node, *_ in tasks} <= {node for node, _, _ in nodes} | {None}
    assert sum(read for _, _, _, read, _ in tasks) >= 40000
    assert all(stage.startswith(query) and in_order for _, stage, _, _, in_order in tasks)


def _ended_tasks(session: Session, query: str) -> list[tuple[Any, ...]] | None:
    """All tasks of a query; None while there are none, or some are not told to be over."""
    found = rows(
        session,
        'SELECT node_id, stage_id, state, processed_input_rows, "end" >= start FROM system.runtime.tasks '
        f"WHERE query_id = '{query}'",
    )
    return found if found and all(state == "FINISHED" for _, _, state, _, _ in found) else None


def _executors(session: Session) -> list[tuple[Any, ...]] | None:
    found = rows(
        session,
        "SELECT node_id, processors, memory_limit_bytes FROM system.runtime.nodes "
        "WHERE NOT coordinator AND processors > 0 AND state = 'active'",
    )
    return found if len(found) >= 2 else None


def test_a_canceled_query_is_stopped_on_spark(table: Session, cluster: Engine) -> None:
    wait = in_thread(lambda: rows(table, LONG_QUERY))
    watcher = cluster.session()
    wait_until(lambda: running_tasks(watcher), "a task that runs")
    wait_until(lambda: info_of(cluster, LONG_QUERY).progress, "progress")
    assert "tasks" in info_of(cluster, LONG_QUERY).progress
    query = info_of(cluster, LONG_QUERY).query_id
    began = time.monotonic()
    watcher.run(f"KILL QUERY '{query}'").read_all()
    with pytest.raises(QueryCanceled):
        wait()
    took = time.monotonic() - began
    wait_until(lambda: not running_tasks(watcher), "the end of its tasks")
    assert took < 30.0  # far less on a machine that is not busy: benchmarks/spark.py measures it


def test_a_query_outlives_an_executor(table: Session, cluster: Engine, spark_cluster_server: Facts) -> None:
    sql = LONG_QUERY.replace("a.w < b.w", "a.w < b.w AND a.k < 12000 AND b.k < 12000")
    expected = rows(table, sql.replace("spark", "local"))
    wait = in_thread(lambda: rows(table, sql))
    watcher = cluster.session()
    wait_until(lambda: running_tasks(watcher), "a task that runs")
    executors = [p for worker in spark_cluster_server["workers"].split(",") for p in _executors_of(int(worker))]
    executors[0].kill()
    assert wait() == expected


def _executors_of(worker: int) -> list[psutil.Process]:
    children = psutil.Process(worker).children(recursive=True)
    return [p for p in children if "CoarseGrainedExecutorBackend" in " ".join(p.cmdline())]
