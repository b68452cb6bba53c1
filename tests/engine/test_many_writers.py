"""Sixteen who write to one table at the same time, as threads and as processes: every row once, none lost.

PINAKES_LONG=1 lets each write more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.engine.support import FORKS, PATIENCE, an_engine, do, how_many, rows
from tests.engine.writers_child import work
from tests.providers.kinds import KINDS, new_name

WRITERS = 16
EACH = how_many(2, 25)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 4, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["sqlite", "jdbc_postgres", "iceberg_rest"])
def test_sixteen_writers(request: pytest.FixtureRequest, tmp_path: Path, kind: str, processes: int) -> None:
    server = KINDS[kind].server
    attach = KINDS[kind].attach(request.getfixturevalue(f"{server}_server") if server else {}, tmp_path)
    name = new_name()
    with an_engine() as engine:
        session = engine.session()
        for statement in (*attach, f"CREATE SCHEMA cat.{name}", f"CREATE TABLE cat.{name}.t (id BIGINT)"):
            do(session, statement)
        assert _run(attach, f"cat.{name}.t", processes) == []
        found = sorted(number for (number,) in rows(session, f"SELECT id FROM cat.{name}.t"))
    assert found == list(range(WRITERS * EACH))


def _run(attach: Sequence[str], table: str, processes: int) -> list[str]:
    """The errors of all."""
    own = [range(writer * EACH, (writer + 1) * EACH) for writer in range(WRITERS)]
    each = WRITERS // processes
    pipes, children = [], []
    for number in range(processes):
        here, there = FORKS.Pipe()
        child = FORKS.Process(target=work, args=(attach, table, own[number * each : (number + 1) * each], there))
        child.start()
        there.close()
        pipes.append(here)
        children.append(child)
    for pipe in pipes:
        assert pipe.poll(PATIENCE * 2), "it does not begin"
        assert pipe.recv() == "ready"
    for pipe in pipes:
        pipe.send("go")
    errors = []
    for pipe in pipes:
        assert pipe.poll(PATIENCE * 5), "it hangs"
        errors += pipe.recv()
    for child in children:
        child.join(PATIENCE)
    return errors
