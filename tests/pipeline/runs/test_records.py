"""What is kept of runs: by several at once, and of processes that are gone. No Spark is started."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import InvalidArgument
from pinakes.engine.engine import Engine
from pinakes.pipelines.runs.records import COMPLETED, Records, TableRecord, _mark
from pinakes.pipelines.runs.step import Input, Made
from tests.pipeline.runs.support import values

STATES = "SELECT run_id, state FROM system.pipeline.runs ORDER BY run_id"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(Config(engine=replace(EngineConfig(), data=":memory:"))) as engine:
        Records(engine.session(), "lake", "any").prepare()
        yield engine


def record(number: int) -> TableRecord:
    made = Made(rows=number, inputs=[Input("flow", ("lake", "s", "source"), "table", None, 1)])
    return TableRecord(("lake", "s", f"t{number}"), "table", COMPLETED, datetime.now(UTC), made, "", "a.sql:1")


def test_pipelines_that_record_at_once(engine: Engine) -> None:
    def work(pipeline: str) -> None:
        records = Records(engine.session(), "lake", pipeline)
        records.begin(f"run of {pipeline}", "spec.yml", "")
        for number in range(2):
            records.add(f"run of {pipeline}", record(number))
        records.end(f"run of {pipeline}", COMPLETED, None)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, ("a", "b", "c")))
    session = engine.session()
    assert values(session, STATES) == [(f"run of {name}", COMPLETED) for name in "abc"]
    for table in ("tables", "lineage"):
        assert values(session, f"SELECT count(*) FROM system.pipeline.{table}") == [(6,)]


def test_a_run_goes_on_or_its_process_is_gone(engine: Engine) -> None:
    session = engine.session()
    records = Records(session, "lake", "shop")
    alive = _mark(os.getppid())
    gone = f"{os.getppid()}:1" if ":" in alive else "4194305"  # another process had this number before
    records.begin("first", "spec.yml", "")
    session.run(f"UPDATE lake.pinakes_pipeline.runs SET process = '{gone}'").read_all()
    records.begin("second", "spec.yml", "")
    assert values(session, STATES) == [("first", "INTERRUPTED"), ("second", "RUNNING")]
    session.run(f"UPDATE lake.pinakes_pipeline.runs SET process = '{alive}' WHERE run_id = 'second'").read_all()
    with pytest.raises(InvalidArgument, match="running already"):
        records.begin("third", "spec.yml", "")
    host = socket.gethostname()
    session.run(f"UPDATE lake.pinakes_pipeline.runs SET host = 'not {host}' WHERE run_id = 'second'").read_all()
    assert records.unfinished() == "second"
    records.begin("third", "spec.yml", "")
    assert values(session, STATES)[1] == ("second", "INTERRUPTED")
