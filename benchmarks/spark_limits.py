"""Where the local engine, with little memory, spills or fails, and `auto` picks Spark: TPC-H, as a plot.

    python benchmarks/spark_limits.py [--scale 10] [--memory 512MB] [--queries 1 9 18] [--plot docs/spark-limits.svg]

Half an hour and 10 GB of disk at scale 10, so `make bench` leaves it out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import _harness  # noqa: F401 - its path leads to `tests`
from _plot import bars

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.core.errors import PinakesError
from pinakes.core.values import size
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine import tpc

ENGINES = ("local", "auto")


def config(memory: int) -> Config:
    """`auto` goes to Spark where rows are to be kept of more than the local engine has memory for."""
    engine = replace(EngineConfig(), data=":memory:", memory_limit=memory)
    return Config(engine=engine, given_spark=replace(SparkConfig(), start_timeout=600.0))


def run(session: Session, engine: Engine, name: str, sql: str) -> tuple[float, str]:
    """Seconds, 0 if it failed, and what is told of it: the engine that ran it, or the error."""
    session.run(f"SET engine = '{name}'").read_all()
    began = time.perf_counter()
    try:
        for _ in session.run(sql):
            pass
    except PinakesError as error:
        return 0.0, error.code
    return time.perf_counter() - began, engine.tracker.snapshot()[-1].engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=10)
    parser.add_argument("--memory", type=size, default=size("512MB"))
    parser.add_argument("--queries", type=int, nargs="+", default=[1, 6, 9, 13, 18, 21])
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    taken: dict[str, list[float]] = {name: [] for name in ENGINES}
    told: list[str] = []
    with tempfile.TemporaryDirectory() as place, open_engine(config(given.memory)) as engine:
        session = engine.session()
        connection = tpc.peer("tpch")
        for name in tpc.generate(connection, "tpch", given.scale, Path(place)):
            tpc.add_table(session, name, Path(place) / f"{name}.parquet")
        queries = tpc.queries(connection, "tpch")
        connection.close()
        run(session, engine, "spark", "SELECT 1 AS one")  # its start is no part of a query
        for number in given.queries:
            found = {name: run(session, engine, name, queries[number]) for name in ENGINES}
            for name, (seconds, _) in found.items():
                taken[name].append(seconds)
            told.append(f"Q{number} {found['local'][1] if not found['local'][0] else ''}".strip())
            print(f"Q{number}: " + ", ".join(f"{n} {s:.1f} s {word}" for n, (s, word) in found.items()), flush=True)
    if given.plot:
        title = f"TPC-H SF{given.scale:g}, seconds; local has {given.memory // 1_000_000} MB (no bar: it failed)"
        given.plot.write_text(bars(title, told, taken, gap=70))


if __name__ == "__main__":
    main()
