"""Processes with an engine each on one SQLite catalog file: all get on, and what was acknowledged is there once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.shared_child import work
from tests.engine.support import FORKS, PATIENCE, an_engine, do, how_many, rows

STEPS = how_many(8, 24)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.long)])
def test_processes_share_a_catalog(tmp_path: Path, processes: int) -> None:
    with an_engine(tmp_path) as engine:
        do(engine.session(), "CREATE TABLE shared (id BIGINT, by INT, touched INT)")
    acknowledged = _run(tmp_path, processes)
    with an_engine(tmp_path) as engine:
        session = engine.session()
        found = [i for (i,) in rows(session, "SELECT id FROM shared ORDER BY id")]
        columns = {name for name, *_ in rows(session, "SHOW COLUMNS FROM shared")}
        touched = rows(session, "SELECT id FROM shared WHERE touched IS NOT NULL ORDER BY id")
        tables = {name for (name,) in rows(session, "SHOW TABLES")}
    assert found == sorted(acknowledged)
    made = [(n, step) for n in range(processes) for step in range(0, STEPS, 3)]
    assert columns == {"id", "by", "touched"} | {f"c_{n}_{step}" for n, step in made}
    assert tables == {"shared"} | {f"own_{n}_{step}" for n, step in made}
    assert touched == [(n * 1000 + step,) for n in range(processes) for step in range(1, STEPS, 4)]
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _run(directory: Path, processes: int) -> list[int]:
    """All ids that were acknowledged, by processes that begin at the same moment."""
    pipes = []
    for number in range(processes):
        here, there = FORKS.Pipe()
        FORKS.Process(target=work, args=(directory, number, STEPS, there), daemon=True).start()
        there.close()
        pipes.append(here)
    assert [_received(pipe) for pipe in pipes] == ["ready"] * processes
    for pipe in pipes:
        pipe.send("go")
    outcomes = [_received(pipe) for pipe in pipes]
    assert all(isinstance(o, list) for o in outcomes), outcomes
    return [i for outcome in outcomes for i in outcome]


def _received(pipe: object) -> object:
    assert pipe.poll(PATIENCE * 5), "it hangs"  # type: ignore[attr-defined]
    return pipe.recv()  # type: ignore[attr-defined]
