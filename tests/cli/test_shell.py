"""The prompt: what Enter does, what stays in the history, what Ctrl-C and Ctrl-D do."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from pinakes.cli.console import Console
from pinakes.cli.files import open_files
from pinakes.cli.prompt.history import open_history
from pinakes.cli.prompt.shell import Shell, is_complete
from pinakes.cli.runner import Runner
from pinakes.core.errors import QueryCanceled
from tests.cli.seats import SEATS, seated


@pytest.mark.parametrize(
    "text", ["", "  \n", "select 1;", "select ';';", "select 1; -- why", "select 1 /* ; */ ;\n", "\\q", "exit", "QUIT;"]
)
def test_enter_runs(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize(
    "text", ["select 1", "select ';", "select 1 -- ;", "select 1 /* ;", 'select "a;', "select 1; select 2", "exit 1"]
)
def test_enter_makes_a_new_line(text: str) -> None:
    assert not is_complete(text)


def test_the_names_of_opened_files(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("id\n1\n")
    (tmp_path / "Order lines.csv").write_text("a,b\n" + "1,2\n" * 30_000 + "x,2\n")
    with seated("embedded", tmp_path) as backend:
        console = Console("csv", io.StringIO(), io.StringIO())
        files = [str(tmp_path / "customers.csv"), str(tmp_path / "Order lines.csv")]
        assert open_files(files, backend, console, names=True)
        assert isinstance(console.err, io.StringIO)
        said = console.err.getvalue().splitlines()
        assert said[0] == f"customers: '{files[0]}'"
        assert said[1].startswith("warning: column 'a' is VARCHAR: ")
        assert said[2] == f"\"Order lines\": '{files[1]}'"
        assert backend.run('SELECT count(*) AS n FROM "Order lines"').read_all().to_pydict() == {"n": [30_001]}


@pytest.fixture(params=SEATS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Runner]:
    with seated(request.param, tmp_path) as backend:
        yield Runner(backend, Console("csv", io.StringIO(), io.StringIO()))


def typed(runner: Runner, keys: str, history: InMemoryHistory | None = None) -> tuple[str, str]:
    """What a shell prints when these keys are typed."""
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        Shell(runner, history=history or InMemoryHistory(), input=pipe, output=DummyOutput()).loop()
    assert isinstance(runner.console.out, io.StringIO)
    assert isinstance(runner.console.err, io.StringIO)
    return runner.console.out.getvalue(), runner.console.err.getvalue()


def test_statements_over_several_lines(runner: Runner) -> None:
    out, _ = typed(runner, "select 1 as a,\r  2 as b\r;\rselect 3 as c; select 4 as d;\r\\q\r")
    assert out == "a,b\n1,2\nc\n3\nd\n4\n"


def test_an_error_does_not_end_the_shell(runner: Runner) -> None:
    out, err = typed(runner, "select nope;\rselect 1 as a;\r\x04")
    assert out == "a\n1\n"
    assert "COLUMN_NOT_FOUND: " in err


def test_ctrl_c_clears_the_line_and_ctrl_d_leaves(runner: Runner) -> None:
    out, _ = typed(runner, "select 1 as gone\x03select 2 as a;\r\x04")
    assert out == "a\n2\n"


def test_help_and_unknown_commands(runner: Runner) -> None:
    _, err = typed(runner, "\\?\r\\nope\rexit\r")
    assert "\\q" in err
    assert "no command \\nope" in err


def test_a_history_that_can_not_be_written_does_not_end_the_shell(tmp_path: Path, runner: Runner) -> None:
    file = tmp_path / "state" / "history"
    history = open_history(file)
    file.unlink()
    file.parent.rmdir()
    with create_pipe_input() as pipe:
        pipe.send_text("select 1 as a;\rselect 2 as b;\r\\q\r")
        Shell(runner, history=history, input=pipe, output=DummyOutput()).loop()
    assert isinstance(runner.console.out, io.StringIO)
    assert runner.console.out.getvalue() == "a\n1\nb\n2\n"
    assert history.get_strings()[:2] == ["select 1 as a;", "select 2 as b;"]


def test_a_start_up_script_that_can_not_be_read_is_said(tmp_path: Path, runner: Runner) -> None:
    script = tmp_path / "shell.sql"
    script.write_bytes(b"select '\xff'")
    Shell(runner, history=InMemoryHistory(), output=DummyOutput()).start(script)
    assert isinstance(runner.console.err, io.StringIO)
    assert runner.console.err.getvalue() == f"FILE_NOT_FOUND: can't read {script}: it is not UTF-8\n"


@pytest.mark.parametrize(
    ("editor", "said"), [("vi 'x", "\"vi 'x\" can't be started: No closing"), ("false", "exit code 1")]
)
def test_an_editor_that_fails(runner: Runner, monkeypatch: pytest.MonkeyPatch, editor: str, said: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    out, err = typed(runner, "\\e\rselect 1 as a;\r\\q\r")
    assert said in err
    assert out == "a\n1\n"


def test_the_history_keeps_statements_without_their_secrets(tmp_path: Path, runner: Runner) -> None:
    file = tmp_path / "state" / "history"
    history = open_history(file)
    with create_pipe_input() as pipe:
        pipe.send_text(
            "select 1;\rcreate secret s (type bearer, token 'hunter2');\rselect 'open token hunter2\x03\\q\r"
        )
        Shell(runner, history=history, input=pipe, output=DummyOutput()).loop()
    kept = file.read_text()
    assert "select 1;" in kept
    assert "create secret s" in kept
    assert "hunter2" not in kept
    assert not any("hunter2" in entry for entry in history.get_strings())
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_history_that_can_not_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = open_history(tmp_path / "file" / "history")
    history.append_string("create secret s (type bearer, token 'hunter2')")
    assert ["hunter2" in entry for entry in history.get_strings()] == [False]


def test_a_statement_that_runs_can_be_canceled(runner: Runner) -> None:
    """The runner's thread ends with QUERY_CANCELED when another one cancels, which is what Ctrl-C does."""
    started = threading.Event()
    backend = runner.backend
    original = backend.run

    def run(sql: str):
        result = original(sql)
        started.set()
        return result

    backend.run = run  # type: ignore[method-assign]
    threading.Thread(target=lambda: (started.wait(), backend.cancel()), daemon=True).start()
    with pytest.raises(QueryCanceled):
        runner.run("select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b")


class Terminal:
    """A process on a pseudo-terminal of 24 lines of 80 characters."""

    def __init__(self, command: list[str], **options: Any) -> None:
        self.control, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, **options
        )
        os.close(terminal)
        self.seen = ""

    def until(self, text: str) -> None:
        """Wait until the terminal has shown a text; what came after it counts for the next wait."""
        while text not in self.seen:
            ready, _, _ = select.select([self.control], [], [], 30)
            assert ready, f"{text!r} did not come; the terminal shows {self.seen!r}"
            self.seen += os.read(self.control, 4096).decode(errors="replace")
        self.seen = self.seen.partition(text)[2]

    def type(self, keys: str) -> None:
        os.write(self.control, keys.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.control)


@pytest.mark.slow
def test_on_a_real_terminal(tmp_path: Path, env: dict[str, str]) -> None:
    """Ctrl-C stops the statement, the shell goes on; the prompt shows where one is."""
    env |= {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    command = [sys.executable, "-m", "pinakes", "--data", ":memory:"]
    with closing(Terminal(command, cwd=tmp_path, env=env)) as terminal:
        terminal.until("lake.default>")
        terminal.type("select 'be' || 'gun' as x; select count(*) from generate_series(1, 10000000) a, ")
        terminal.type("generate_series(1, 10000000) b;\r")
        terminal.until("begun")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("canceled")
        terminal.until("lake.default>")
        terminal.type("select 'still' || ' here' as y;\r")
        terminal.until("still here")
        terminal.until("lake.default>")
        terminal.type("\x04")
        assert terminal.process.wait(180) == 0
