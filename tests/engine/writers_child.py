"""One of several processes that write to one table at the same time, each with several threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from pinakes.engine.session import Session
from tests.engine.support import an_engine, do


def work(statements: Sequence[str], table: str, numbers: Sequence[Sequence[int]], pipe: Connection) -> None:
    """A session for each list of numbers inserts them one by one. Says "ready", waits, and sends the errors."""
    with an_engine() as engine:
        sessions = [engine.session() for _ in numbers]
        for statement in statements:  # what one attaches, all of its user see
            do(sessions[0], statement)
        pipe.send("ready")
        pipe.recv()
        with ThreadPoolExecutor(len(numbers)) as pool:
            outcomes = list(pool.map(lambda s, own: _insert(s, table, own), sessions, numbers))
        pipe.send([error for error in outcomes if error])


def _insert(session: Session, table: str, numbers: Sequence[int]) -> str:
    try:
        for number in numbers:
            do(session, f"INSERT INTO {table} VALUES ({number})")
    except Exception as error:  # noqa: BLE001 - told to whoever waits
        return f"{type(error).__name__}: {error}"
    return ""
