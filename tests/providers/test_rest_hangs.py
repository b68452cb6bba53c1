"""A REST catalog that takes a request and never answers: whoever waits for it can stop waiting."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

import pinakes
from pinakes.api.connection import Connection

LONG = 60.0
"""Seconds in which what must happen has happened, on a machine however busy; the catalog may take ten times as long."""


class Hanging:
    """Takes connections, and says nothing."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._taken: list[socket.socket] = []
        self.asked = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                taken, _ = self._listener.accept()
            except OSError:
                return
            self._taken.append(taken)
            self.asked.set()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for taken in self._taken:
            taken.close()


@pytest.fixture
def server() -> Iterator[Hanging]:
    server = Hanging()
    yield server
    server.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM stuck.sales.orders",
        "SHOW TABLES IN stuck.sales",
        "DESCRIBE stuck.sales.orders",
        "USE stuck.sales",
        "ATTACH '{address}' AS other (TYPE iceberg_rest, TIMEOUT 600)",
    ],
)
def test_cancel_does_not_wait_for_an_answer(server: Hanging, sql: str) -> None:
    with pinakes.connect(data=":memory:") as connection:
        connection.execute(f"ATTACH '{server.address}' AS stuck (TYPE iceberg_rest, VERIFY false, TIMEOUT 600)")
        ended = _begun(connection, sql.format(address=server.address))
        assert server.asked.wait(LONG)
        connection.cancel()
        ended.thread.join(LONG)
        assert not ended.thread.is_alive()
        assert "canceled" in str(ended.error)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_timeout_does_not_wait_for_an_answer_either(server: Hanging) -> None:
    with pinakes.connect(data=":memory:") as connection:
        connection.execute(f"ATTACH '{server.address}' AS stuck (TYPE iceberg_rest, VERIFY false, TIMEOUT 600)")
        connection.execute("SET statement_timeout = 1")
        ended = _begun(connection, "SELECT * FROM stuck.sales.orders")
        ended.thread.join(LONG)
        assert not ended.thread.is_alive()
        assert "statement_timeout" in str(ended.error)


class _Ended:
    def __init__(self, connection: Connection, sql: str) -> None:
        self.error: BaseException | None = None
        self._connection, self._sql = connection, sql
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._connection.execute(self._sql).fetchall()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test looks at it
            self.error = error


def _begun(connection: Connection, sql: str) -> _Ended:
    ended = _Ended(connection, sql)
    ended.thread.start()
    return ended
