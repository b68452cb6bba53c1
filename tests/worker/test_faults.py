"""Workers that go wrong: each time a typed error that tells what happened, no hang, and no process left behind."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

import pinakes
from pinakes.api.connection import Connection
from pinakes.core.errors import PinakesError
from pinakes.worker.client.connection import PipeConnection
from pinakes.worker.client.pool import Pool
from pinakes.worker.wire.methods import METHODS
from tests.worker.support import command

pytestmark = pytest.mark.slow

BAD = Path(__file__).with_name("bad_worker.py")
LONG = 60.0
"""Seconds in which what must happen has happened, however loaded the machine is."""


@pytest.fixture
def connection() -> Iterator[Connection]:
    before = children()  # servers of other tests, and what became of them
    with pinakes.connect(data=":memory:") as connection:
        yield connection
    assert eventually(lambda: children() <= before), f"still there: {children() - before}"


def attach(connection: Connection, fault: str, options: str = "") -> None:
    quoted = f"'{fault}'" if fault else ""
    location = f"{command(BAD)} {quoted}".replace("'", "''")
    connection.execute(f"ATTACH 'bad' (TYPE vgi, LOCATION '{location}'{options})")


def children() -> set[int]:
    """The workers that are children of this process, dead ones too."""
    found = set()
    for process in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if process.status() == psutil.STATUS_ZOMBIE or any("bad_worker" in word for word in process.cmdline()):
                found.add(process.pid)
    return found


def eventually(condition) -> bool:
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


def error_of(connection: Connection, sql: str) -> PinakesError:
    with pytest.raises(Exception) as raised:
        connection.execute(sql).fetchall()
    found = raised.value
    while not isinstance(found, PinakesError):
        assert found.__cause__ is not None, repr(found)
        found = found.__cause__  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        ("exit at once", "CATALOG_UNAVAILABLE", "no configuration: set HOME_OF_DATA"),
        ("garbage", "CATALOG_UNAVAILABLE", "does not speak the worker protocol"),
        ("silent", "CATALOG_UNAVAILABLE", "does not answer"),
        ("old version", "CATALOG_UNAVAILABLE", "another version of the protocol"),
        ("half a message", "CATALOG_UNAVAILABLE", "bad"),
    ],
)
def test_what_can_not_be_attached(connection: Connection, fault: str, code: str, message: str):
    options = ", TIMEOUT 1" if fault == "silent" else ""
    with pytest.raises(Exception, match=message) as raised:
        attach(connection, fault, options)
    assert code in repr(raised.value) or getattr(raised.value, "code", code) == code


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        ("die in the middle", "CATALOG_UNAVAILABLE", "exit code 3; its last words: .*disk on fire"),
        ("die between batches", "CATALOG_UNAVAILABLE", "exit code 5"),
        ("raise", "EXECUTION_ERROR", "RuntimeError: the service is down"),
        ("hang in the middle", "CATALOG_UNAVAILABLE", "does not answer"),
        ("wrong schema", "CATALOG_UNAVAILABLE", "said that it sends column 'i' as int64, and sends string"),
    ],
)
def test_a_query_that_fails_and_the_next_that_works(connection: Connection, fault: str, code: str, message: str):
    attach(connection, fault, ", TIMEOUT 8" if "hang" in fault else "")
    found = error_of(connection, "SELECT * FROM bad.main.t")
    assert found.code == code
    assert re.search(message, found.message, re.DOTALL), found.message
    assert connection.execute("SELECT count(*) FROM information_schema.tables WHERE table_catalog = 'bad'").fetchall()
    if fault != "wrong schema":
        # LIMIT may read as far as the row that raises.
        with suppress(*([pinakes.Error] if fault == "raise" else [])):
            assert connection.execute("SELECT i FROM bad.main.t LIMIT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("fault", ["die in a value", ""])
def test_a_function_that_fails(connection: Connection, fault: str):
    attach(connection, fault)
    found = error_of(connection, "SELECT bad.main.broken(i) FROM bad.main.t")
    assert found.code == ("CATALOG_UNAVAILABLE" if fault else "EXECUTION_ERROR")
    assert connection.execute("SELECT count(*) FROM bad.main.t").fetchall() == [(5,)]


def test_a_flood_of_words_does_not_stop_a_query(connection: Connection):
    attach(connection, "flood")
    assert connection.execute("SELECT count(*) FROM bad.main.t").fetchall() == [(5,)]


def test_a_worker_that_died_while_idle_is_started_again(connection: Connection):
    attach(connection, "")
    assert connection.execute("SELECT count(*) FROM bad.main.t").fetchall() == [(5,)]
    workers = children()
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # all its threads are gone, and it is there to be reaped
    assert connection.execute("SELECT count(*) FROM bad.main.t").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM bad.main.t", [(5,)]),
        ("SELECT bad.main.negated(i) FROM bad.main.t ORDER BY 1 LIMIT 1", [(-5,)]),
    ],
)
def test_reads_are_repeated_when_the_worker_died(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, sql: str, expected: list[tuple[object]]
):
    """As one that was killed, and whose threads are not gone yet: its pipes are still open when it is taken."""
    attach(connection, "")
    assert connection.execute(sql).fetchall() == expected
    real = Pool.take
    taken: list[int] = []

    def take(pool: Pool, **how: bool) -> object:
        found = real(pool, **how)
        if isinstance(found, PipeConnection) and found.answered and not taken:
            taken.extend(children())
            for worker in taken:
                os.kill(worker, signal.SIGKILL)
        return found

    monkeypatch.setattr(Pool, "take", take)
    assert connection.execute(sql).fetchall() == expected
    assert taken


def test_a_change_is_not_sent_twice():
    assert not [m.name for m in METHODS.values() if m.repeatable and m.answers == "nothing"]
    assert not METHODS["catalog_transaction_begin"].repeatable
    assert METHODS["catalog_table_get"].repeatable


def test_cancel_reaches_a_worker_that_hangs(connection: Connection, tmp_path: Path):
    attach(connection, f"hang in the middle {tmp_path}/hangs", ", TIMEOUT 600")
    ended: list[BaseException] = []

    def run() -> None:
        try:
            connection.execute("SELECT * FROM bad.main.t").fetchall()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test looks at it
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(tmp_path.joinpath("hangs").exists)
    connection.cancel()
    thread.join(LONG)
    assert not thread.is_alive()
    assert ended
    assert "canceled" in str(ended[0])


def test_detach_ends_the_workers(connection: Connection):
    before = children()
    attach(connection, "")
    assert connection.execute("SELECT count(*) FROM bad.main.t").fetchall() == [(5,)]
    connection.execute("DETACH bad")
    assert eventually(lambda: children() <= before)
