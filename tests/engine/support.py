"""What the tests of the engine share: engines on a directory, rows in an order, seeds, children that run a script."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.engine.engine import Engine
from pinakes.engine.execution.tracker import QueryInfo
from pinakes.engine.session import Session

LONG = bool(os.environ.get("PINAKES_LONG"))
PATIENCE = 600.0 if LONG else 60.0
"""Seconds that a test waits for something before it fails; nothing here should take that long."""

FORKS = multiprocessing.get_context("forkserver")
"""Starts processes that have everything imported already: some ten times as fast as new ones."""
FORKS.set_forkserver_preload(
    [
        "tests.commands",
        "tests.engine.killed_child",
        "tests.engine.support",
        "pinakes.engine.planning.planner",
        "pinakes.engine.iceberg.scan.dataset",
    ]
    + [f"pinakes.engine.commands.{family}" for family in ("changes", "tables")]
)

Row = tuple[Any, ...]


def how_many(normal: int, long: int) -> int:
    """The size of a sample: a small one in the normal run."""
    return long if LONG else normal


def seed_of(name: str) -> int:
    """The seed of a test: PINAKES_SEED, or a fixed one. It is printed, so that a failure shows it."""
    seed = int(os.environ.get("PINAKES_SEED", "20261116"))
    sys.stdout.write(f"{name}: PINAKES_SEED={seed}\n")
    return seed


def chance(seed: int, *what: object) -> random.Random:
    """Chance of one's own for each thing, so that one can be run without those before it."""
    return random.Random(f"{seed}:{':'.join(str(w) for w in what)}")


@contextmanager
def an_engine(data: str | Path = ":memory:", **options: Any) -> Iterator[Engine]:
    """An engine that knows no configuration file."""
    config = Config(engine=replace(EngineConfig(), data=str(data), **options))
    with open_engine(config) as engine:
        yield engine


def rows(session: Session, sql: str, parameters: Any = None) -> list[Row]:
    """The rows of a query in the order they came."""
    table = session.run(sql, parameters).read_all()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def in_order(found: list[Row]) -> list[Row]:
    """Rows in an order that NULL has a place in."""
    return sorted(found, key=lambda row: tuple((value is not None, type(value).__name__, value) for value in row))


def do(session: Session, sql: str) -> int | None:
    """Carry out a statement; the number of rows it changed."""
    result = session.run(sql)
    for _ in result:
        pass
    return result.count


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """What `condition` gives once it gives something true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited in vain: {what}")


def info_of(engine: Engine, text: str) -> QueryInfo:
    """What the tracker knows of the last statement whose text has `text` in it."""
    return next(q for q in reversed(engine.tracker.snapshot()) if text in q.shown)


def in_thread(call: Callable[[], Any]) -> Callable[[], Any]:
    """Start a call on a thread of its own; the function given back waits for what it returns or raises."""
    outcome: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def joined() -> Any:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the thread hangs"
        value, error = outcome[0]
        if error is not None:
            raise error
        return value

    return joined


def child(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A Python process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, *arguments], **options)


def parquet_files(directory: Path) -> set[Path]:
    return set(directory.rglob("*.parquet"))
