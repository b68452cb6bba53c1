"""The remote shell on a real terminal: passwords that are typed, servers that die, come back, or do not answer."""

from __future__ import annotations

import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.cli.screen import Screen
from tests.flight.serving import Serving, eventually, serving

pytestmark = pytest.mark.slow

Open = Callable[..., Screen]
ENDLESS = "select sum(value % 7) from range(100000000000);"
RUNNING = "select count(*) from system.runtime.queries where state = 'RUNNING' and query like '%100000000000%'"


@pytest.fixture
def shell(tmp_path: Path, env: dict[str, str]) -> Iterator[Open]:
    opened: list[Screen] = []

    def start(server: Serving, *arguments: str) -> Screen:
        screen = Screen(tmp_path, env, *arguments, where=("--uri", server.uri))
        opened.append(screen)
        return screen

    yield start
    for screen in opened:
        screen.close()


def running(server: Serving) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(RUNNING)
        row = cursor.fetchone()
        assert row is not None
        return int(row[0]) - 1  # it counts itself


@contextmanager
def frozen(server: Serving) -> Iterator[None]:
    """The server does not answer, as behind a network that is gone."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_ctrl_c_stops_the_statement_on_the_server(shell: Open) -> None:
    with serving() as server:
        screen = shell(server)
        screen.until("Connected to " + server.uri)
        screen.prompt()
        screen.enter(ENDLESS)
        screen.until("running · ")
        assert running(server) == 1
        screen.type("\x03")
        screen.until("canceled")
        screen.prompt()
        assert eventually(lambda: running(server) == 0)
        screen.enter("select 'still' || ' here' as y;")
        screen.until("still here")


def test_ctrl_c_does_not_wait_for_a_server_that_does_not_answer(shell: Open) -> None:
    with serving() as server:
        screen = shell(server)
        screen.prompt()
        screen.enter(ENDLESS)
        screen.until("running · ")
        with frozen(server):
            screen.type("\x03")
            screen.until("canceled")
            screen.prompt()
        assert eventually(lambda: running(server) == 0)
        screen.enter("select 'still' || ' here' as y;")
        screen.until("still here")
        assert b"Traceback" not in screen.sent


def test_ctrl_c_while_it_connects_or_asks(shell: Open) -> None:
    with serving() as server:
        screen = shell(server)
        screen.prompt()
        with frozen(server):
            screen.enter("\\conninfo")
            assert eventually(lambda: bool(termios.tcgetattr(screen.control)[3] & termios.ISIG))  # no prompt any more
            screen.type("\x03")
            screen.until("canceled")
            screen.prompt()
            other = shell(server)
            assert eventually(lambda: _is_connecting(other.process.pid))
            other.process.send_signal(signal.SIGINT)
            assert other.process.wait(180) == 130
            assert b"Traceback" not in other.sent
        screen.enter("\\conninfo")
        screen.until("server     " + server.uri)


def _is_connecting(pid: int) -> bool:
    """Whether it has a TCP connection: then it waits for the first answer."""
    return any(connection.raddr for connection in psutil.Process(pid).net_connections("tcp"))


def test_the_prompt_shows_the_transaction_and_the_namespace(shell: Open) -> None:
    with serving() as server:
        screen = shell(server)
        screen.prompt()
        screen.enter("create schema sales; use sales; begin;")
        screen.until("lake.sales*>")
        screen.enter("select nope;")
        screen.until("lake.sales!>")
        screen.enter("rollback; use lake.default;")
        screen.until("ROLLBACK (")
        screen.prompt()


def test_a_server_that_dies_and_comes_back(shell: Open, tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with serving(data=data) as server:
        port = server.port
        screen = shell(server)
        screen.prompt()
        screen.enter("create table t (a bigint); create schema s; create table s.t (a bigint); use s;")
        screen.until("lake.s>")
        screen.enter(ENDLESS)
        screen.until("running · ")
        server.process.kill()
        screen.until("SERVER_UNAVAILABLE: the connection to ", "lake.s>")
    screen.enter("select 'any' || 'body' as y;")
    screen.until("no server listens there")
    with serving(data=data, port=port):
        # Meant for lake.s: it must not go to lake.default, where the new session begins.
        screen.enter("insert into t values (1);")
        screen.until("SESSION_LOST: ", "The statement was not run")
        screen.prompt()
        screen.enter("\\pset format csv")
        screen.until("format is csv")
        screen.enter("select 'rows', (select count(*) from t) + (select count(*) from s.t) as n;")
        screen.until("rows,0")
        assert b"Traceback" not in screen.sent


def test_a_password_that_is_typed_is_not_shown(shell: Open, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('[server.users]\nann = "geheim"\n')
    with serving("--config", str(file)) as server:
        screen = shell(server, "--user", "ann")
        screen.until(f"Password of ann at {server.uri}:")
        screen.type("geheim\r")
        screen.prompt()
        assert "as ann." in screen.text
        assert b"geheim" not in screen.sent
        wrong = shell(server, "--user", "ann")
        wrong.until("Password of ann")
        wrong.type("hunter2\r")
        wrong.until("UNAUTHENTICATED: ")
        assert wrong.process.wait(180) == 1
        assert b"hunter2" not in wrong.sent
        canceled = shell(server, "--user", "ann")
        canceled.until("Password of ann")
        canceled.type("\x03")
        assert canceled.process.wait(180) == 130
        assert b"Traceback" not in canceled.sent


def test_leaving_ends_the_session(shell: Open) -> None:
    def sessions(server: Serving) -> int:
        with server.connect() as connection, connection.cursor() as cursor:
            cursor.execute("select count(*) from system.runtime.sessions")
            row = cursor.fetchone()
            assert row is not None
            return int(row[0])

    with serving() as server:
        screen = shell(server)
        screen.prompt()
        assert sessions(server) == 2  # the shell's, and that of whoever asks
        screen.type("\x04")
        assert screen.process.wait(180) == 0
        assert eventually(lambda: sessions(server) == 1)
