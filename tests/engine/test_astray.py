"""Columns of one name in several tables: filters that operators make while they run would hit the wrong one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows

JOINED = "FROM o JOIN p ON o.id = p.order_id JOIN c ON p.customer = c.number"


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        session = engine.session()
        do(session, "CREATE TABLE o (amount INT, id INT)")
        do(session, "CREATE TABLE p (amount INT, order_id INT, customer INT)")
        do(session, "CREATE TABLE c (number INT)")
        for first in (0, 1000, 2000, 3000, 4000):
            do(session, f"INSERT INTO o SELECT 100, i FROM unnest(range({first}, {first} + 1000)) AS u(i)")
        do(session, "INSERT INTO p SELECT 5000 - i, i, i % 50 FROM unnest(range(0, 5000, 5)) AS u(i)")
        do(session, "INSERT INTO c SELECT i FROM unnest(range(0, 50)) AS u(i)")
        yield session


def plan(session: Session, sql: str) -> str:
    return str(rows(session, f"EXPLAIN {sql}")[1][1])


@pytest.mark.parametrize("relation", ["o.amount, p.amount", "v"])
def test_no_filter_is_made_where_names_meet(session: Session, relation: str) -> None:
    do(session, f"CREATE VIEW v AS SELECT o.amount AS a, p.amount AS b {JOINED}")
    sql = (
        "SELECT a, b FROM v ORDER BY b LIMIT 1" if relation == "v" else f"SELECT {relation} {JOINED} ORDER BY 2 LIMIT 1"
    )
    assert "DynamicFilter" not in plan(session, sql)
    assert rows(session, sql) == [(100, 5)]


def test_a_filter_is_made_where_names_differ(session: Session) -> None:
    assert "DynamicFilter" in plan(session, "SELECT id FROM o ORDER BY amount LIMIT 1")
    assert "DynamicFilter" in plan(session, "SELECT id FROM o JOIN c ON o.id = c.number ORDER BY id LIMIT 1")
