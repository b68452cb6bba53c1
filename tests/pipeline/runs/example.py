"""The example pipeline as a process of its own: run, killed at some point, and what its tables hold."""

from __future__ import annotations

import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import NotFoundError
from pinakes.engine.session import Session
from tests.servers.base import Facts

EXAMPLE = Path(__file__).parents[3] / "examples" / "pipeline"
TABLES = ("raw_orders", "raw_orders_bad_records", "raw_customers", "orders", "customers", "daily_revenue", "products")
_OF_THE_RUN = {"run_id", "at", "batch", "file"}
"""Columns of bad records that tell of the run and its directory, and not of the record."""


def generate(into: Path, rows: int) -> None:
    runpy.run_path(str(EXAMPLE / "generate.py"))["generate"](into, rows, 4)


@dataclass(slots=True)
class Shop:
    """The example with a catalog of its own. `spark` is one that runs; None has each run start its own."""

    place: Path
    raw: Path
    spark: Facts | None

    def __post_init__(self) -> None:
        for name in ("transformations", "spec.yml"):
            source = EXAMPLE / name
            copy: Callable[..., Any] = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, self.place / name)
        (self.place / "data").symlink_to(self.raw)
        lines = [] if self.spark is None else [f'{k} = "{self.spark[k]}"' for k in ("remote", "spool", "ui")]
        memory = [] if lines else ['driver_memory = "1GB"']
        (self.place / "pinakes.toml").write_text("\n".join(["[spark]", *lines, *memory]) + "\n")

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pinakes", "pipeline", "run", "spec.yml", *options]
        with (self.place / "stderr").open("ab") as told:
            return subprocess.Popen(
                [*command, "--data", "lake", "--config", "pinakes.toml"],
                cwd=self.place,
                stderr=told,
                env={**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])},
            )

    def run(self, *options: str) -> None:
        process = self.start(*options)
        assert process.wait(600) == 0, self.said()

    def said(self) -> str:
        return (self.place / "stderr").read_text(errors="replace")

    def has_begun(self) -> bool:
        """A load was planned: the first step of the run."""
        with self._session() as session:
            try:
                return bool(session.run("SELECT 1 FROM lake.pinakes_pipeline.loads LIMIT 1").read_all().num_rows)
            except NotFoundError:
                return False

    def tables(self) -> dict[str, pa.Table]:
        """All that the pipeline made, in an order of its own."""
        found = {}
        with self._session() as session:
            for name in TABLES:
                table = session.run(f"SELECT * FROM lake.shop.{name}").read_all()
                kept = [c for c in table.column_names if c not in _OF_THE_RUN]
                found[name] = table.select(kept).sort_by([(c, "ascending") for c in kept]).combine_chunks()
        return found

    def states(self) -> list[str]:
        with self._session() as session:
            found = session.run("SELECT state FROM system.pipeline.runs ORDER BY started_at").read_all()
        return [row["state"] for row in found.to_pylist()]

    @contextmanager
    def _session(self) -> Iterator[Session]:
        config = Config(engine=replace(EngineConfig(), data=str(self.place / "lake")))
        with open_engine(config) as engine:
            yield engine.session()


def kill_when(
    process: subprocess.Popen[bytes], begun: Callable[[], bool], delay: float, kill: Callable[[], None]
) -> None:
    """Kill something so many seconds after the run has begun; a run that is quicker than that was not disturbed."""
    end = time.monotonic() + 400
    while process.poll() is None and not begun():
        assert time.monotonic() < end, "the run did not begin"
        time.sleep(0.1)
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        kill()


def killed(process: subprocess.Popen[bytes]) -> Callable[[], None]:
    return lambda: process.send_signal(signal.SIGKILL)
