"""What the runner and the console do with warnings, counts and things that went wrong."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from pinakes.cli.console import Console, describe_error
from pinakes.cli.runner import Runner
from pinakes.cli.script import run_script
from pinakes.cli.steps import Script
from pinakes.core.errors import ParseError, Position
from pinakes.engine.result import Result


def runner(run: Any, format: str = "csv") -> tuple[Runner, Console]:
    console = Console(format, io.StringIO(), io.StringIO())
    warnings = iter([["one catalog is slow"]])
    backend: Any = SimpleNamespace(run=run, take_warnings=lambda: next(warnings, []), cancel=lambda: None)
    return Runner(backend, console), console


def texts(console: Console) -> tuple[str, str]:
    assert isinstance(console.out, io.StringIO)
    assert isinstance(console.err, io.StringIO)
    return console.out.getvalue(), console.err.getvalue()


def test_warnings_are_said_once() -> None:
    run, console = runner(lambda sql: Result.done("USE"))
    run.run("use x")
    run.run("use x")
    assert texts(console) == ("", "USE\nwarning: one catalog is slow\nUSE\n")


def test_tags_go_to_stdout_for_people() -> None:
    run, console = runner(lambda sql: Result.done("INSERT", 3), "table")
    run.run("insert …")
    assert texts(console) == ("INSERT 3\n", "warning: one catalog is slow\n")


def test_a_bug_of_ours_is_one_line_and_its_traceback_is_in_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    def run(sql: str) -> Result:
        raise TypeError("boo")

    run_, console = runner(run)
    with caplog.at_level(logging.DEBUG):
        assert run_script(Script("select 1;\n", "x.sql"), run_) is False
    assert texts(console)[1] == "warning: one catalog is slow\nx.sql:1: INTERNAL_ERROR: TypeError: boo\n"
    assert "Traceback" in caplog.text


def test_the_log_says_nothing_of_errors_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        describe_error(TypeError("boo"))
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("at", "place"), [(Position(1, 3, "ab x"), "line 7, column 12"), (Position(2, 3, "ab x"), "line 8, column 3")]
)
def test_positions_move_with_the_statement(at: Position, place: str) -> None:
    text = describe_error(ParseError("no", position=at), (7, 10))
    assert text == f"PARSE_ERROR: no ({place})\nab x\n  ^"


@pytest.mark.parametrize(
    ("script", "place"),
    [(Script("", "a.sql"), "a.sql:3: "), (Script(""), "line 3: ")],
)
def test_an_error_begins_with_its_place(script: Script, place: str) -> None:
    assert script.place(3) == place
    assert Script("").place(1) == ""
