"""Promises: a query on Spark takes at most 1.1 times, or 150 ms more than, the same SQL sent to that Spark directly; a
cancel reaches it within 1 s; SELECT * of a lineitem that no executor can hold streams through.

`python benchmarks/spark.py 1` takes TPC-H at that scale; 0.1 is the default.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from _harness import promise

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.core.errors import QueryCanceled
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.spark.remote import SparkEngine
from tests.engine import tpc

ROUNDS = 5
QUERIES = (1, 3, 5, 6)


def config(**spark: Any) -> Config:
    chosen = SparkConfig(driver_memory=1 << 30, start_timeout=600.0)
    return Config(engine=replace(EngineConfig(), data=":memory:"), given_spark=replace(chosen, **spark))


def load(session: Session, scale: float, directory: Path) -> dict[int, str]:
    connection = tpc.peer("tpch")
    for name in tpc.generate(connection, "tpch", scale, directory):
        tpc.add_table(session, name, directory / f"{name}.parquet")
    return tpc.queries(connection, "tpch")


def seconds(call: object) -> float:
    began = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - began


def overhead(session: Session, queries: dict[int, str]) -> None:
    remote = session.engine.remote
    assert isinstance(remote, SparkEngine)
    sent: list[str] = []
    plain = remote.run

    def noting(statement: object) -> object:
        sent.append(statement.sql)  # type: ignore[attr-defined]
        return plain(statement)  # type: ignore[arg-type]

    remote.run = noting  # type: ignore[method-assign, assignment]
    for number in QUERIES:
        sql = queries[number]
        session.run(sql).read_all()  # warm
        spark = remote._servers[0].sessions._open[session.session_id][-1].spark
        text = sent[-1]
        spark.sql(text).toArrow()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(seconds(lambda sql=sql: session.run(sql).read_all()))
            theirs.append(seconds(lambda text=text, spark=spark: spark.sql(text).toArrow()))
        mine, peer = median(ours), median(theirs)
        print(f"Q{number}: {mine * 1e3:.0f} ms, directly {peer * 1e3:.0f} ms, {mine / peer:.2f} times")
        promise(f"Q{number}: more than directly beyond a tenth", max(0.0, (mine - 1.1 * peer)) * 1e3, 150, " ms")


def cancel(session: Session, engine: Engine) -> None:
    sql = "SELECT count(*) AS n FROM lineitem a JOIN lineitem b ON a.l_linenumber = b.l_linenumber"
    sql += " WHERE a.l_tax < b.l_tax"
    took: list[float] = []
    remote = engine.remote
    assert remote is not None

    def run() -> None:
        try:
            session.run(sql).read_all()
        except QueryCanceled:
            took.append(time.perf_counter())

    thread = threading.Thread(target=run)
    thread.start()
    while not any(t.state == "RUNNING" for t in remote.tasks()):
        time.sleep(0.1)
    began = time.perf_counter()
    session.cancel()
    thread.join()
    promise("cancel: seconds until the client has its answer", took[0] - began, 1.0, " s")
    while any(t.state == "RUNNING" for t in remote.tasks()):
        time.sleep(0.05)
    print(f"         no task runs any more after {time.perf_counter() - began:.2f} s")


def everything(session: Session) -> None:
    began, count = time.perf_counter(), 0
    for batch in session.run("SELECT * FROM lineitem"):
        count += batch.num_rows
    print(f"SELECT * of lineitem: {count:,} rows in {time.perf_counter() - began:.1f} s, with 1 GB for Spark")


def main() -> None:
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
    with tempfile.TemporaryDirectory() as place, open_engine(config()) as engine:
        session = engine.session()
        queries = load(session, scale, Path(place))
        session.run("SET engine = 'spark'").read_all()
        first = seconds(lambda: session.run("SELECT 1 AS one").read_all())
        print(f"first statement, with the start of Spark: {first:.1f} s")
        overhead(session, queries)
        cancel(session, engine)
        everything(session)


if __name__ == "__main__":
    main()
