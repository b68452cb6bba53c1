"""The progress line: drawn where it can be erased, erased before anything else is printed, silent everywhere else."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pinakes.api.shell_backend import Work
from pinakes.cli import progress as module
from pinakes.cli.progress import Progress
from tests.cli.screen import Screen

SLOW = "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b"
ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no file behind it")


def line(err: io.StringIO, out: Any = None, **work: Any) -> Progress:
    backend: Any = SimpleNamespace(working=lambda: Work(**{"rows": 0, "state": "RUNNING", **work}))
    return Progress(backend, out or Terminal(), err)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "DELAY", 0.0)


def test_it_shows_what_is_known_and_goes() -> None:
    err = Terminal()
    progress = line(err, rows=1234567)
    progress.tick()
    progress.end()
    assert re.match(r"\r⠋ 1,234,567 rows · \d+\.\d s · Ctrl-C cancels\x1b\[K", err.getvalue())
    assert err.getvalue().endswith(ERASE)


def test_work_of_less_than_a_second_has_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY", 3600.0)
    err = Terminal()
    progress = line(err)
    progress.tick()
    progress.end()
    assert err.getvalue() == ""


def test_it_does_not_come_back() -> None:
    err = Terminal()
    progress = line(err)
    progress.tick()
    progress.end()
    before = err.getvalue()
    progress.tick()
    progress.end()
    assert err.getvalue() == before


def test_it_gives_way_to_the_first_rows_on_a_terminal_and_stays_above_a_file(tmp_path: Path) -> None:
    batches: Any = [1, 2]
    for out, gone in ((Terminal(), True), ((tmp_path / "x").open("w"), False)):
        err = Terminal()
        progress = line(err, out)
        progress.tick()
        rows = progress.over(iter(batches))
        assert next(rows) == 1
        assert err.getvalue().endswith(ERASE) is gone
        assert list(rows) == [2]
        assert err.getvalue().endswith(ERASE)
        out.close()


def test_rows_that_are_dropped_are_closed() -> None:
    closed = []

    def batches() -> Iterator[Any]:
        try:
            yield 1
        finally:
            closed.append(True)

    rows = line(Terminal()).over(batches())
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert closed == [True]


@pytest.mark.parametrize(("term", "err"), [("dumb", Terminal()), ("", Terminal()), ("xterm", io.StringIO())])
def test_it_is_silent_where_it_could_not_be_erased(monkeypatch: pytest.MonkeyPatch, term: str, err: Any) -> None:
    monkeypatch.setenv("TERM", term) if term else monkeypatch.delenv("TERM")
    progress = line(err)
    progress.tick()
    progress.end()
    assert err.getvalue() == ""


def test_a_terminal_that_is_gone_is_no_error() -> None:
    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError("gone")

    progress = line(Gone())
    progress.tick()
    progress.end()


# --- in the real command -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 20])
def test_ctrl_c_erases_the_line(tmp_path: Path, env: dict[str, str], where: tuple[str, ...], columns: int) -> None:
    screen = Screen(tmp_path, env, "-c", SLOW, columns=columns, where=where)
    screen.until("running")
    screen.type("\x03")
    assert screen.process.wait(180) == 130
    while True:
        try:
            screen._stream.feed(os.read(screen.control, 65536))
        except OSError:
            break
    assert screen.text == ""


@pytest.mark.slow
def test_nothing_is_drawn_when_stderr_is_no_terminal(tmp_path: Path, env: dict[str, str]) -> None:
    sql = "select count(*) as n from generate_series(1, 60000) a, generate_series(1, 60000) b"
    command = [sys.executable, "-m", "pinakes", "--data", ":memory:", "--format", "csv", "-c", sql]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=env | {"TERM": "xterm"})
    assert (done.stdout, done.stderr) == (b"n\n3600000000\n", b"")
