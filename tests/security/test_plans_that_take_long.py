"""Statements whose plans take minutes, in which no other user is answered, are refused before they are planned.

A chain of 400 joins held Python's lock for 34 seconds of CPU; 21 queries of WITH that each read the one before twice
were planned for five minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.config.serving import StatementLimits
from pinakes.core.errors import NotSupportedError, QueryTimeout
from pinakes.engine.execution.admission import Admission
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_thread, rows


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        engine.admission = Admission(StatementLimits())
        yield engine.session()


def joined(count: int) -> str:
    joins = (f"JOIN range(2) AS t{i} ON t{i}.value = t{i - 1}.value" for i in range(1, count + 1))
    return f"SELECT count(*) FROM range(2) AS t0 {' '.join(joins)}"


def doubled(count: int, kind: str = "") -> str:
    parts = (f"c{i} AS (SELECT x.a FROM c{i - 1} AS x JOIN c{i - 1} AS y ON x.a = y.a)" for i in range(1, count))
    return f"WITH {kind} c0 AS (SELECT 1 AS a), {', '.join(parts)} SELECT a FROM c{count - 1}"


@pytest.mark.parametrize("sql", [doubled(12), doubled(60), doubled(60, "RECURSIVE"), f"SELECT * FROM ({doubled(40)})"])
def test_queries_of_with_that_double_the_plan_are_refused(session: Session, sql: str) -> None:
    with pytest.raises(NotSupportedError, match="plan_relations"):
        do(session, sql)


def test_many_joins_are_refused(session: Session) -> None:
    with pytest.raises(NotSupportedError, match="plan_joins"):
        do(session, joined(150))
    assert rows(session, joined(20)) == [(2,)]


def test_joins_of_views_count(session: Session) -> None:
    do(session, f"CREATE VIEW v AS {joined(30)}")
    assert rows(session, "SELECT * FROM v") == [(2,)]
    with pytest.raises(NotSupportedError, match="plan_joins"):
        do(session, "SELECT * FROM v a, v b, v c, v d")


def test_subqueries_count_as_joins(session: Session) -> None:
    exists = " AND ".join(f"EXISTS (SELECT 1 FROM range(3) u WHERE u.value = t.value + {i})" for i in range(120))
    with pytest.raises(NotSupportedError, match="plan_joins"):
        do(session, f"SELECT count(*) FROM range(2) t WHERE {exists}")


def test_an_embedded_engine_has_no_such_limit() -> None:
    with an_engine() as engine:
        assert rows(engine.session(), doubled(4)) == [(1,)]


def test_a_pipe_without_a_reader_does_not_hold_the_statement(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with an_engine() as engine:
        session = engine.session()
        do(session, "SET statement_timeout = '300ms'")
        with pytest.raises(QueryTimeout):
            do(session, f"COPY (SELECT 1 AS a) TO '{pipe}'")
        do(session, "SET statement_timeout = 0")
        read = in_thread(pipe.read_text)
        do(session, f"COPY (SELECT 1 AS a) TO '{pipe}'")
        assert read() == "a\n1\n"
