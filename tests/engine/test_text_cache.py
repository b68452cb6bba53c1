"""Rewritten texts that are used again: only while what they were made from is the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.core.errors import PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.planning.text_cache import TextCache
from pinakes.parser.typed import rewrite as typed
from pinakes.parser.typed.nodes import Query
from pinakes.parser.typed.reader import read
from pinakes.parser.workarounds import rewrite as workarounds
from pinakes.parser.workarounds.in_lists import Floats
from pinakes.parser.workarounds.writing import Written
from tests.engine.support import an_engine, do, rows

SHARED = (
    "WITH s AS (SELECT g, max(a) AS a FROM t GROUP BY g) "
    "SELECT x.a + y.a AS total FROM s AS x JOIN s AS y ON x.g = y.g AND x.g IN (1, 2, 3, 4, 5)"
)
"""Its plan is not cached, since it computes a subquery first."""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setattr("pinakes.engine.planning.planner.TEXTS", TextCache())
    with an_engine() as engine:
        yield engine


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read."""
    found: list[str] = []

    def recorded(text: str) -> Query:
        found.append(text)
        return read(text)

    for module in (typed, workarounds):
        monkeypatch.setattr(module, "read", recorded)
    return found


def test_a_text_is_read_once(engine: Engine, made: list[str]) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS g, 2 AS a")
    assert rows(session, SHARED) == [(4,)]
    made.clear()
    assert rows(session, SHARED) == [(4,)]
    assert not made


def test_values_that_grow_get_checks(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS g, CAST(2 AS BIGINT) AS a")
    assert rows(session, SHARED) == [(4,)]
    do(session, "INSERT INTO t VALUES (1, 9223372036854775807)")
    with pytest.raises(PinakesError):
        rows(session, SHARED)


def test_types_that_change_count(engine: Engine) -> None:
    session, sql = engine.session(), SHARED.replace("x.a + y.a", "x.a / y.a")
    do(session, "CREATE TABLE t AS SELECT 1 AS g, 2 AS a")
    assert str(rows(session, sql)) == "[(1,)]"
    do(session, "DROP TABLE t")
    do(session, "CREATE TABLE t AS SELECT 1.0 AS g, CAST(2 AS DECIMAL(5, 1)) AS a")
    assert str(rows(session, sql)) == "[(Decimal('1.0000000000000000'),)]"
    do(session, "DROP TABLE t")
    do(session, "CREATE TABLE t AS SELECT CAST(-0.0 AS DOUBLE) AS g, 2 AS a")
    zero = sql.replace("(1, 2, 3, 4, 5)", "(0, 2, 3, 4, 5)")
    assert str(rows(session, zero)) == "[(1,)]"


def test_the_texts_used_last_are_kept() -> None:
    cache = TextCache(2)
    asked: list[str] = []

    for text in ("a", "b", "a", "c", "a", "b"):

        def rewrite(floats: Floats, text: str = text) -> Written:
            asked.append(text)
            return Written(text, text)

        assert cache.without_forms(text, frozenset, rewrite) == Written(text, text)
    assert asked == ["a", "b", "c", "b"]
