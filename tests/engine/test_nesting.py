"""Expressions and queries within each other: as deep as is said, and refused beyond that by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

import pinakes
from pinakes.core.errors import NotSupportedError
from pinakes.engine.session import Session
from pinakes.parser.brackets import DEEPEST_QUERIES


@pytest.fixture
def session() -> Iterator[Session]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection.session


def cases(depth: int) -> str:
    text = "0"
    for number in range(depth):
        text = f"CASE WHEN k = {number} THEN {number} ELSE {text} END"
    return text


def one(session: Session, sql: str) -> object:
    return session.run(sql).read_all().column(0)[0].as_py()


def check_cases(session: Session, depth: int) -> None:
    assert one(session, f"SELECT {cases(depth)} FROM (SELECT 3 AS k) t") == 3
    assert one(session, f"SELECT count(*) FROM (SELECT 3 AS k) t WHERE {cases(depth)} = 3") == 1


def test_cases_within_cases(session: Session) -> None:
    check_cases(session, 60)


@pytest.mark.slow
def test_many_within_each_other() -> None:
    """In a process of its own: a Java machine, which tests/jdbc brings into this one, leaves less of the stack."""
    subprocess.run([sys.executable, "-m", __name__], check=True, timeout=300)


def test_too_many_cases_within_cases_are_refused_by_name(session: Session) -> None:
    with pytest.raises(NotSupportedError, match="more than 1000 operators in one expression"):
        session.run(f"SELECT {cases(1001)} FROM (SELECT 3 AS k) t")


def check_calls_and_brackets(session: Session, depth: int) -> None:
    text, called = "k", "k"
    for _ in range(depth):
        text, called = f"({text} + 1)", f"abs({called})"
    assert one(session, f"SELECT {text} FROM (SELECT 3 AS k) t") == 3 + depth
    assert one(session, f"SELECT {called} FROM (SELECT -3 AS k) t") == 3


def test_calls_and_brackets_within_each_other(session: Session) -> None:
    check_calls_and_brackets(session, 30)


def check_subqueries(session: Session, depth: int) -> None:
    text = "SELECT 3 AS k"
    for number in range(depth):
        text = f"SELECT k FROM ({text}) t{number}"
    assert one(session, text) == 3


def test_subqueries_in_from_within_each_other(session: Session) -> None:
    check_subqueries(session, 30)


def test_other_subqueries_within_each_other_are_refused_where_planning_would_not_end(session: Session) -> None:
    text = "SELECT 3 AS k"
    for _ in range(DEEPEST_QUERIES // 2):
        text = f"SELECT 3 AS k WHERE 3 IN ({text})"
    assert one(session, text) == 3
    for _ in range(DEEPEST_QUERIES):
        text = f"SELECT 3 AS k WHERE 3 IN ({text})"
    with pytest.raises(NotSupportedError, match="subqueries are nested more than 20 deep"):
        session.run(text)


if __name__ == "__main__":
    with pinakes.connect(data=":memory:") as deep:
        check_cases(deep.session, 900)
        check_calls_and_brackets(deep.session, 150)
        check_subqueries(deep.session, 100)
