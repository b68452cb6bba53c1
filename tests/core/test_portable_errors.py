"""Errors survive the way over the wire: kind, code, message and position."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pinakes.core import errors
from pinakes.core.errors import PinakesError, Position
from pinakes.core.portable_errors import LONGEST_LINE, as_values, from_values


def kinds(kind: type[PinakesError]) -> Iterator[type[PinakesError]]:
    yield kind
    for inner in kind.__subclasses__():
        if inner.__module__ == errors.__name__:
            yield from kinds(inner)


@pytest.mark.parametrize("kind", list(kinds(PinakesError)), ids=lambda kind: kind.code)
def test_every_kind_comes_back(kind: type[PinakesError]) -> None:
    sent = kind("what 'ü' is", position=Position(2, 3, "a b"))
    back = from_values(json.loads(json.dumps(as_values(sent))))
    assert type(back) is kind
    assert back.render((4, 1)) == sent.render((4, 1))


def test_a_code_that_is_not_known_here_is_kept() -> None:
    assert from_values({"code": "FROM_THE_FUTURE", "message": "m"}).render() == "FROM_THE_FUTURE: m"


@pytest.mark.parametrize("longest", [None, 5])
def test_of_a_long_line_the_sender_of_the_statement_has_the_text(longest: int | None) -> None:
    sql = "select 1,\n" + "x" * (LONGEST_LINE + 1)
    sent = as_values(errors.ParseError("message", position=Position.of(sql, 12)), longest)
    assert len(json.dumps(sent)) < 200
    assert from_values(sent, sql).position == Position.of(sql, 12)
    assert from_values(sent, "other").position == Position(2, 3, "")


def test_a_long_message_is_cut_where_there_is_no_room() -> None:
    assert as_values(errors.ParseError("message"), 4)["message"] == "mess …"


@pytest.mark.parametrize(
    ("column", "begin", "end"),
    [(1, "SELECT", "…"), (2_000, "…", "…"), (4_005, "…", "nope")],
    ids=["first", "middle", "last"],
)
def test_of_a_long_line_only_what_is_around_is_marked(column: int, begin: str, end: str) -> None:
    line = f"SELECT {'ab, ' * 1_000}nope"
    shown, caret = Position(1, column, line).marked().split("\n")
    assert len(shown) <= 302
    assert shown.startswith(begin)
    assert shown.endswith(end)
    assert shown[len(caret) - 1] == line[column - 1]
