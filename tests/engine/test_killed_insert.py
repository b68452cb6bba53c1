"""A process that is killed in the middle of a change: the table has the state before it or after it, never another.

PINAKES_LONG=1 kills 200 times.
"""

from __future__ import annotations

import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from pinakes.engine.session import Session
from tests.engine.killed_child import CHANGES, ROWS, work
from tests.engine.support import FORKS, PATIENCE, an_engine, chance, do, how_many, rows, seed_of

KILLS = how_many(20, 200)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_killed_at_a_random_moment(tmp_path: Path, change: str) -> None:
    """Some kills on one directory, one after the other: what one left is where the next begins."""
    dice = chance(seed_of("kills"), change)
    with an_engine(tmp_path) as engine:
        do(engine.session(), f"CREATE TABLE t AS SELECT value AS id, CAST(0 AS BIGINT) AS v FROM range({ROWS})")
        if change == "transaction":
            do(engine.session(), "CREATE TABLE u AS SELECT CAST(0 AS BIGINT) AS v")
    for _ in range(-(-KILLS // len(CHANGES))):
        done = _run_and_kill(tmp_path, change, dice.uniform(0.0, 0.5))
        _check_database(tmp_path)
        with an_engine(tmp_path) as engine:
            session = engine.session()
            _check_tables(session, change, done)
            do(session, "INSERT INTO t VALUES (-1, -1)")  # whoever comes next can write
            do(session, "DELETE FROM t WHERE id = -1")


def _run_and_kill(directory: Path, change: str, after: float) -> list[int]:
    """Let it work for a while, then kill it: the changes that it said are done."""
    here, there = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=work, args=(directory, change, there))
    process.start()
    there.close()
    assert here.poll(PATIENCE), "it does not begin"
    assert here.recv() == "ready"
    time.sleep(after)
    process.kill()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    return _said(here)


def _said(pipe: Connection) -> list[int]:
    numbers = []
    with closing(pipe), suppress(EOFError, OSError):  # the last message may be cut off
        while True:
            numbers.append(pipe.recv())
    return numbers


def _check_database(directory: Path) -> None:
    with closing(sqlite3.connect(directory / "catalog.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _check_tables(session: Session, change: str, done: list[int]) -> None:
    if change == "delete":
        _check_deleted(session, done)
        return
    if change == "transaction":  # both tables, or none
        assert rows(session, "SELECT DISTINCT v FROM t") == rows(session, "SELECT v FROM u")
    counts = Counter(dict(rows(session, "SELECT v, count(*) FROM t GROUP BY v")))
    if change in ("insert", "create"):  # each acknowledged one is whole, and one more may be
        tables = [name for (name,) in rows(session, "SHOW TABLES") if name != "t"]
        for name in tables:
            counts += Counter(dict(rows(session, f"SELECT v, count(*) FROM {name} GROUP BY v")))
        assert set(counts.values()) == {ROWS}, counts
        assert set(done) <= set(counts), "an acknowledged change is lost"
    else:  # all rows have the last acknowledged state, or the one that came after it
        ((state, count),) = counts.items()
        assert count == ROWS
        assert not done or state in (done[-1], done[-1] + 1000), (state, done)


def _check_deleted(session: Session, done: list[int]) -> None:
    """The rows from some step on are gone, all of them and no others: those acknowledged, and one step more at most."""
    ((count, highest),) = rows(session, "SELECT count(*), max(id) FROM t")
    assert count == highest + 1
    assert count % 20 == 0
    assert not done or count <= ROWS - done[-1] * 20
