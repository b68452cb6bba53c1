"""Joins that pair many rows with many: they can be stopped, and what they give is what it would be else."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest
from datafusion import ScalarUDF, udf

import pinakes
from pinakes.core.errors import QueryCanceled
from pinakes.engine.datafusion.workarounds import cancellable_joins as stoppable
from pinakes.engine.execution.query import Query
from pinakes.engine.planning import prepare
from pinakes.engine.session import Session

COMPARED = [
    "SELECT a.id, b.id FROM t a, t b WHERE a.id % 7 < b.id % 5",
    "SELECT a.id, b.n FROM t a JOIN t b ON a.id * b.id = 12",
    "SELECT a.id, b.n FROM t a JOIN t b ON a.n = b.n AND a.id < b.id",
    "SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.id > b.id * 3",
    "SELECT a.id, b.id FROM t a RIGHT JOIN t b ON a.id > b.id * 3",
    "SELECT a.id, b.id FROM t a FULL JOIN t b ON a.id > b.id * 3 AND b.n < a.n",
    "SELECT a.id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.id > a.id * 5)",
    "SELECT a.id FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.n > a.n)",
    "SELECT a.id, c.id FROM t a JOIN t b ON a.id = b.id JOIN t c ON b.n < c.n AND c.id BETWEEN a.id AND b.id + 2",
    "WITH q AS (SELECT id, n FROM t) SELECT x.id, y.id FROM q x, q y WHERE x.n <> y.n OR x.n IS NULL",
    "SELECT i, k FROM (SELECT id AS i, n FROM t) p, (SELECT id AS k FROM t) q WHERE i + k < 9",
    "SELECT * FROM pairs",
    "WITH q AS (SELECT a.n, count(*) AS c FROM t a JOIN t b ON a.id < b.id * 2 GROUP BY a.n) "
    "SELECT x.c, y.c FROM q x JOIN q y ON x.n = y.n",  # q is computed before
]
CROSSED = ["SELECT a.id, b.id FROM t a, t b", "SELECT count(*), sum(a.id * b.id) FROM t a CROSS JOIN t b"]
NOT = [
    "SELECT a.id FROM t a JOIN t b ON a.id = b.id WHERE a.n > 2",
    "SELECT a.id, m FROM t a, (SELECT max(id) AS m FROM t)",
    "SELECT id FROM t WHERE id > n",
]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with pinakes.connect(data=":memory:") as connection:
        session = connection.session
        session.run("CREATE TABLE t AS SELECT value AS id, nullif(value % 6, 4) AS n FROM range(40)")
        session.run("CREATE VIEW pairs AS SELECT a.id, b.id AS other FROM t a JOIN t b ON a.id + b.id < a.n * 9")
        session.run("CREATE TABLE large AS SELECT value AS id FROM range(50000)")
        yield session


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each call of the function in conditions."""
    seen: list[int] = []

    def counting(_: Query) -> ScalarUDF:
        def counted(condition: pa.Array) -> pa.Array:
            seen.append(len(condition))
            return condition

        return udf(counted, [pa.bool_()], pa.bool_(), "immutable", stoppable.CALL)

    monkeypatch.setattr(stoppable, "function", counting)
    return seen


def rows(session: Session, sql: str) -> list[str]:
    return sorted(map(str, session.run(sql).read_all().to_pylist()))


@pytest.mark.parametrize("sql", COMPARED)
def test_the_rows_are_the_same_with_calls(
    session: Session, called: list[int], monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    found = rows(session, sql)
    assert called, "its conditions have calls in them"
    monkeypatch.setattr(prepare, "cancellable", lambda plan, *_: plan)
    assert found == rows(session, sql)
    assert found


@pytest.mark.parametrize("sql", CROSSED)
def test_the_rows_are_the_same_in_small_batches(session: Session, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    found = rows(session, sql)
    monkeypatch.setattr(stoppable, "FEW_ROWS", 1)
    monkeypatch.setattr(stoppable, "CROSSED_ROWS", 7)
    assert rows(session, sql) == found


@pytest.mark.parametrize("sql", NOT)
def test_nothing_is_done_where_nothing_is_paired(
    session: Session, monkeypatch: pytest.MonkeyPatch, called: list[int], sql: str
) -> None:
    again: list[stoppable.Joins] = []

    def applied(self: stoppable.Joins, sql: str, rows: int, *_: object) -> tuple[str, int]:
        again.append(self)
        return sql, rows

    monkeypatch.setattr(stoppable, "FEW_ROWS", 1)
    monkeypatch.setattr(stoppable.Joins, "applied", applied)
    assert rows(session, sql)
    assert not again
    assert not called


def test_batches_are_as_before_for_the_next_statement(session: Session) -> None:
    usual = session.settings.batch_size
    rows(session, COMPARED[0])
    assert max(batch.num_rows for batch in session.run("SELECT id FROM large")) <= usual


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(a.id * b.id) FROM large a, large b WHERE a.id % 7 < b.id % 11",
        "SELECT sum(a.id * b.id) FROM large a JOIN large b ON a.id % 2 = b.id % 2 AND a.id * b.id = -1",
        "SELECT count(b.id) FROM large a FULL JOIN large b ON a.id * 3 > b.id * 5",
    ],
)
def test_a_stopped_join_makes_no_more_calls(session: Session, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    calls, started = [0], threading.Event()
    check = Query.check

    def counted(query: Query) -> None:
        check(query)
        calls[0] += 1
        if calls[0] > 200:
            started.set()

    monkeypatch.setattr(Query, "check", counted)
    failed: list[BaseException] = []

    def read() -> None:
        try:
            session.run(sql).read_all()
        except QueryCanceled as error:
            failed.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert started.wait(60)
    session.cancel()
    thread.join(60)
    assert failed
    before = calls[0]
    threading.Event().wait(0.3)
    assert calls[0] == before
