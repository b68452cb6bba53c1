"""One of several processes that work on the same catalog file through an engine of their own."""

from __future__ import annotations

import logging
from multiprocessing.connection import Connection
from pathlib import Path

from pinakes.core.errors import CommitConflict, PinakesError
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows

ATTEMPTS = 50
"""How often a statement that met a conflict is tried again: that is what its error asks for."""


def work(directory: Path, number: int, steps: int, pipe: Connection) -> None:
    """Insert, alter, update and read. Sends the ids whose INSERT was acknowledged, or the error that ended it."""
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # it tells of every retry
    acknowledged: list[int] = []
    try:
        with an_engine(directory) as engine:
            session = engine.session()
            pipe.send("ready")
            pipe.recv()
            for step in range(steps):
                new = number * 1000 + step
                _patiently(session, f"INSERT INTO shared (id, by) VALUES ({new}, {number})")
                acknowledged.append(new)
                _see_own(session, number, acknowledged)
                if step % 3 == 0:
                    _patiently(session, f"ALTER TABLE shared ADD COLUMN c_{number}_{step} INT")
                    _patiently(session, f"CREATE TABLE own_{number}_{step} AS SELECT {step} AS a")
                if step % 4 == 1:
                    _patiently(session, f"UPDATE shared SET touched = {step} WHERE id = {new}")
            pipe.send(acknowledged)
    except (PinakesError, AssertionError) as error:
        pipe.send(f"process {number}: {type(error).__name__}: {error}")


def _patiently(session: Session, sql: str) -> None:
    for attempt in range(ATTEMPTS):
        try:
            do(session, sql)
        except CommitConflict:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _see_own(session: Session, number: int, acknowledged: list[int]) -> None:
    """A process reads what it wrote, at once and once."""
    found = [i for (i,) in rows(session, f"SELECT id FROM shared WHERE by = {number} ORDER BY id")]
    assert found == acknowledged, f"wrote {acknowledged}, reads {found}"
