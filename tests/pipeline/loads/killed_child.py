"""A process that is killed while it loads: by itself, right after a step, or some time after one.

python -m tests.pipeline.loads.killed_child FACTS DATA FILES STEP SECONDS
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

from pinakes.api.build import open_engine
from pinakes.config.model import Config
from pinakes.pipelines.loads import FileSource, Load, open_context, run_load
from tests.pipeline.conftest import config_of
from tests.servers.base import Facts

COLUMNS = "id BIGINT, amount DECIMAL(18,2), name STRING"


def config(facts: Facts, data: str | Path) -> Config:
    found = config_of(facts)
    return replace(found, engine=replace(found.engine, data=str(data)))


def load_of(files: str | Path) -> Load:
    return Load(("lake", "s", "t"), FileSource(f"{files}/*.csv", "csv"), columns=COLUMNS)


def main(facts: str, data: str, files: str, step: str, seconds: str) -> None:
    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def reached(found: str) -> None:
        if found == step:
            if not float(seconds):
                die()
            threading.Timer(float(seconds), die).start()

    with (
        open_engine(config(json.loads(facts), data)) as engine,
        open_context(engine.session(), ["lake"], reached=reached) as context,
    ):
        run_load(context, load_of(files), "killed")


if __name__ == "__main__":
    main(*sys.argv[1:])
