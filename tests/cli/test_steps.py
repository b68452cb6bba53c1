"""Texts with commands in them: what runs, in which order, and what stays open."""

from __future__ import annotations

import pytest

from pinakes.cli.steps import steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("select 1; select 2", ["select 1", "select 2"]),
        ("\\dt", ["\\dt"]),
        ("  \\dt o*  \nselect 1;", ["\\dt o*", "select 1"]),
        ("select 1;\n\\x\nselect 2;", ["select 1", "\\x", "select 2"]),
        ("select 1 \\g\nselect 2;", ["\\g", "select 2"]),
        ("select '\n\\x\n';", ["select '\n\\x\n'"]),
        ("/*\n\\x\n*/ select 1;", ["select 1"]),
        ("\\echo it's; \"odd\nselect 1;", ["\\echo it's; \"odd", "select 1"]),
        ("select 'a\\gx", ["select 'a\\gx"]),
        ("\\x\r\nselect 1;\r\n", ["\\x", "select 1"]),
    ],
)
def test_what_runs(text: str, expected: list[str]) -> None:
    assert [step.text for step in steps(text)] == expected


def test_a_statement_goes_on_behind_a_command() -> None:
    found = steps("select 1,\n\\echo here\n  2;\nselect 3;")
    assert [(step.text.split(), step.line, step.is_command) for step in found] == [
        (["\\echo", "here"], 2, True),
        (["select", "1,", "2"], 1, False),
        (["select", "3"], 4, False),
    ]
    assert found[0].buffer == "select 1,"
    assert found[1].offset == 0


@pytest.mark.parametrize("command", ["\\g", "\\gx", "\\r"])
def test_some_commands_end_the_statement(command: str) -> None:
    found = steps(f"select 1\n{command}\nselect 2;")
    assert [(step.text, step.buffer) for step in found] == [(command, "select 1"), ("select 2", "")]


@pytest.mark.parametrize(
    ("text", "closed"),
    [("select 1", False), ("select 1;", True), ("select 1; -- x", True), ("select ';", False), ("select 1\n\\g", True)],
)
def test_whether_the_last_one_is_closed(text: str, closed: bool) -> None:
    assert steps(text)[-1].closed is closed
