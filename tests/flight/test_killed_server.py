"""A server that is killed (-9) while clients insert and ingest: after a restart every table is readable, each statement
that was acknowledged is there, and none is there by half.

PINAKES_LONG=1 kills 100 times.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.support import chance, how_many, seed_of
from tests.flight import killed_client
from tests.flight.killed_client import ROWS
from tests.flight.serving import PATIENCE, Serving, serving

KILLS = how_many(10, 100)


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_there_by_half(tmp_path: Path) -> None:
    """One directory, kill after kill: what one left is where the next begins."""
    dice = chance(seed_of("killed server"), "moments")
    acknowledged: set[tuple[str, int]] = set()
    for kill in range(KILLS):
        with serving(data=str(tmp_path)) as server:
            if kill:
                check(server, acknowledged)
            acknowledged |= _work_and_kill(server, 10_000 * kill, dice.uniform(0.02, 1.0))
    assert acknowledged, "no statement was done in time: the test shows nothing"
    with serving(data=str(tmp_path)) as server:
        check(server, acknowledged)
        assert len(_states(server, "inserted")) >= len([1 for what, _ in acknowledged if what == "inserted"])


def _work_and_kill(server: Serving, first: int, after: float) -> set[tuple[str, int]]:
    client = subprocess.Popen(
        [sys.executable, killed_client.__file__, server.uri, str(first)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it ends by an error, as the server does not answer
        text=True,
    )
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == "ready\n"
        time.sleep(after)
        server.process.kill()
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
        said = client.communicate(timeout=PATIENCE)[0]
    finally:
        client.kill()
        client.wait()
    return {(line.split()[0], int(line.split()[1])) for line in said.splitlines()}


def check(server: Serving, acknowledged: set[tuple[str, int]]) -> None:
    for table in ("inserted", "ingested"):
        states = _states(server, table)
        assert set(states.values()) <= {ROWS}, "a statement is there by half"
        assert {number for what, number in acknowledged if what == table} <= set(states), "one that was done is lost"


def _states(server: Serving, table: str) -> dict[int, int]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT v, count(*) FROM {table} GROUP BY v")
        return dict(cursor.fetchall())
