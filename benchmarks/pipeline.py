"""Promise: a pipeline takes at most 1.15 times what the same transformations take that are written by hand in PySpark,
on the same Spark, into tables of the same catalog. The pipeline also checks expectations and records its runs.

`python benchmarks/pipeline.py 5000000` takes so many orders; 3,000,000 is the default.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from _harness import compare, promise, report

from pinakes.api.build import open_engine
from pinakes.api.pipelines import Options, PipelineRun
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.engine.engine import Engine
from pinakes.engine.remote.text import remote_catalog
from pinakes.spark.remote import SparkEngine

ROUNDS = 3
ORDERS = """CREATE TABLE lake.bench.raw AS SELECT value AS order_id, (value * 7919) % 100000 AS customer_id,
  (value * 31) % 50 AS product, CASE WHEN value % 1009 = 0 THEN -1 ELSE 1 + (value * 13) % 9 END AS quantity,
  CAST(1 + (value * 17) % 2500 AS DECIMAL(10, 2)) AS price, (value * 7) % 180 AS day FROM generate_series(1, {rows})"""
CLEAN = "SELECT order_id, customer_id, product, quantity, price, day, quantity * price AS amount FROM {schema}.raw"
DAILY = "SELECT day, count(*) AS orders, sum(amount) AS amount FROM {schema}.clean GROUP BY day"
BEST = """SELECT customer_id, count(DISTINCT product) AS products, sum(amount) AS amount FROM {schema}.clean
  GROUP BY customer_id"""
SPEC = "name: bench\ncatalog: lake\ndatabase: bench\n"
SQL = """CREATE MATERIALIZED VIEW clean (CONSTRAINT some EXPECT (quantity > 0) ON VIOLATION DROP ROW) AS {clean};
CREATE MATERIALIZED VIEW daily AS {daily};
CREATE MATERIALIZED VIEW best AS {best};
"""


def project(place: Path) -> Path:
    (place / "transformations").mkdir()
    queries = {
        name: text.format(schema="lake.bench") for name, text in (("clean", CLEAN), ("daily", DAILY), ("best", BEST))
    }
    (place / "transformations" / "tables.sql").write_text(SQL.format(**queries))
    (place / "spec.yml").write_text(SPEC)
    return place / "spec.yml"


def by_hand(remote: SparkEngine, engine: Engine) -> Callable[[], None]:
    """What somebody writes who wants these three tables: a session, as a script has one, and three queries."""
    from pyspark.sql.connect import functions as f

    session = engine.session()
    catalog = remote_catalog(session, "lake")
    assert catalog is not None

    def put(spark: Any, name: str, query: str) -> None:
        frame = spark.sql(query)
        if name == "clean":
            frame = frame.where("quantity > 0")
        if spark.catalog.tableExists(f"lake.hand.{name}"):
            frame.writeTo(f"lake.hand.{name}").overwrite(f.lit(True))
        else:
            frame.writeTo(f"lake.hand.{name}").using("iceberg").create()

    def work() -> None:
        query = engine.tracker.start("benchmark")
        with remote.opened(query, query.query_id, [catalog]) as (_, connected):
            put(connected.spark, "clean", CLEAN.format(schema="lake.bench"))
            put(connected.spark, "daily", DAILY.format(schema="lake.hand"))
            put(connected.spark, "best", BEST.format(schema="lake.hand"))
        remote.release(query.query_id)
        query.end()

    return work


def overhead(engine: Engine, spec: Path) -> None:
    session, remote = engine.session(), engine.remote
    assert isinstance(remote, SparkEngine)
    mine, theirs = compare(
        lambda: PipelineRun(engine, spec, Options()).run(lambda *_: None), by_hand(remote, engine), rounds=ROUNDS
    )
    for name in ("clean", "daily", "best"):
        count = f"SELECT count(*) FROM (SELECT * FROM lake.bench.{name} EXCEPT SELECT * FROM lake.hand.{name})"
        assert session.run(count).read_all().column(0)[0].as_py() == 0, name
    report("three tables of the orders", mine, theirs, "PySpark by hand")
    promise("times what it takes by hand", mine.wall / theirs.wall, 1.15, " x")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    spark = SparkConfig(driver_memory=2 << 30, start_timeout=600.0)
    with tempfile.TemporaryDirectory() as place:
        config = Config(engine=replace(EngineConfig(), data=f"{place}/lake"), given_spark=spark)
        with open_engine(config) as engine:
            session = engine.session()
            for schema in ("bench", "hand"):
                session.run(f"CREATE SCHEMA lake.{schema}").read_all()
            session.run(ORDERS.format(rows=rows)).read_all()
            print(f"{rows:,} orders")
            overhead(engine, project(Path(place)))


if __name__ == "__main__":
    main()
