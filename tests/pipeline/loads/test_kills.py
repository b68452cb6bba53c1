"""kill -9 of Pinakes, of the driver and of an executor while files are loaded: run again, it ran once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinakes.api.build import open_engine
from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from pinakes.pipelines.loads import Load, open_context, run_load
from tests.engine.support import LONG, rows
from tests.pipeline.loads.killed_child import config, load_of
from tests.pipeline.support import eventually, javas
from tests.pipeline.test_cluster import EXECUTOR
from tests.pipeline.test_local_server import SPARK, local_config
from tests.servers.base import Facts

pytestmark = pytest.mark.slow
STEPS = ("planned", "staged", "staged bad", "checked", "recorded", "published", "published bad", "done")
POINTS = [(step, 0.0) for step in STEPS] + [("planned", 0.4), ("recorded", 0.05)]
"""Ten: right after each step, and while Spark is at work."""
FILES, RECORDS = 6, 2_000


@pytest.fixture
def files(tmp_path: Path) -> Path:
    found = tmp_path / "in"
    found.mkdir()
    for file in range(FILES):
        first = file * RECORDS
        lines = [f"{i},{i}.25,name {i}" for i in range(first, first + RECORDS)]
        lines[7] = f"{first + 7},a lot,name"
        (found / f"{file}.csv").write_text("id,amount,name\n" + "\n".join(lines) + "\n")
    return found


def check_whole(session: Session, table: str = "t") -> None:
    """Every row and every bad record once."""
    count = FILES * (RECORDS - 1)
    good = f"SELECT count(*), count(DISTINCT id), CAST(sum(amount) AS DOUBLE) FROM lake.s.{table}"
    expected = sum(i + 0.25 for i in range(FILES * RECORDS) if i % RECORDS != 7)
    assert rows(session, good) == [(count, count, expected)]
    bad = f"SELECT count(*), count(DISTINCT file), count(DISTINCT reason) FROM lake.s.{table}_bad_records"
    assert rows(session, bad) == [(FILES, FILES, 1)]
    ledger = (
        f"SELECT count(DISTINCT batch) FROM lake.pinakes_pipeline.loads WHERE target = 's.{table}' AND state = 'done'"
    )
    assert rows(session, ledger) == [(1,)]


@pytest.mark.parametrize("point", POINTS if LONG else [("planned", 0.4), ("published", 0.0)])
def test_pinakes_is_killed(spark_connect_server: Facts, tmp_path: Path, files: Path, point: tuple[str, float]) -> None:
    """The Spark is another's, and goes on with what it was at."""
    arguments = [json.dumps(spark_connect_server), str(tmp_path / "data"), str(files), point[0], str(point[1])]
    child = subprocess.run([sys.executable, "-m", "tests.pipeline.loads.killed_child", *arguments], check=False)
    assert child.returncode == -9 or point[1]
    with open_engine(config(spark_connect_server, tmp_path / "data")) as engine:
        session = engine.session()
        with open_context(session, ["lake"]) as context:
            run_load(context, load_of(files), "again")
            check_whole(session)
            assert run_load(context, load_of(files), "once more").files == 0


@contextmanager
def loading(session: Session, reached: Callable[[str], None]) -> Iterator[Callable[[Load], Any]]:
    with open_context(session, ["lake"], reached=reached) as context:
        yield lambda load: run_load(context, load, "killed")


def test_the_driver_is_killed(spark_connect_server: Facts, tmp_path: Path, files: Path) -> None:
    """Each time it is started anew, and killed at the next point, of a table of its own."""
    local = local_config()
    for at, (step, _) in enumerate(POINTS if LONG else [("staged", 0.0)]):
        with open_engine(replace(local, engine=replace(local.engine, data=str(tmp_path / f"data{at}")))) as engine:
            session = engine.session()
            before = {p.pid for p in javas(os.getpid(), SPARK)}

            def kill(found: str, step: str = step, before: set[int] = before) -> None:
                if found == step:
                    (spark,) = [p for p in javas(os.getpid(), SPARK) if p.pid not in before]
                    spark.kill()
                    spark.wait()

            load = load_of(files)
            with suppress(PinakesError), loading(session, kill) as run:  # after the last step nothing is left to fail
                run(load)
            with loading(session, lambda _: None) as run:
                run(load)
            check_whole(session)


@pytest.mark.long
def test_an_executor_is_killed(spark_cluster_server: Facts, tmp_path: Path, files: Path) -> None:
    """At ten moments after Spark began to read."""
    workers = [int(pid) for pid in spark_cluster_server["workers"].split(",")]

    def kill() -> None:
        executors = [executor for worker in workers for executor in javas(worker, EXECUTOR)]
        executors[0].kill()

    with open_engine(config(spark_cluster_server, tmp_path / "data")) as engine:
        session = engine.session()
        for number in range(10):
            rows(session, "SELECT /*+ ENGINE(spark) */ 1 + 1")
            eventually(lambda: len([e for w in workers for e in javas(w, EXECUTOR)]) == 2, "two executors")
            timer = threading.Timer(0.3 * number, kill)
            with loading(session, lambda step, timer=timer: timer.start() if step == "planned" else None) as run:
                run(replace(load_of(files), target=("lake", "s", f"t{number}")))
            timer.join()
            check_whole(session, f"t{number}")
