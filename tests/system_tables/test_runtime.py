"""system.runtime while things happen: queries that run on other threads, or are stopped; sessions that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pinakes.core.errors import NotFoundError, QueryCanceled
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.system_tables.error_types import error_type
from tests.engine.support import an_engine, do, in_thread, rows, wait_until

ENDLESS = "select sum(value % 7) from range(100000000000)"
SEED = (
    "SELECT query_id, user, state, execution_time_ms, query FROM system.runtime.queries "
    "WHERE state = 'RUNNING' ORDER BY execution_time_ms DESC"
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


def bob(engine: Engine) -> Any:
    return engine.session(Identity("bob"))


def told_of(session: Any, text: str) -> list[tuple[Any, ...]]:
    return [row for row in rows(session, SEED) if row[4] == text]


def test_what_runs_is_seen_and_killed_by_the_id_from_there(engine: Engine) -> None:
    admin, his, hers = engine.session(), bob(engine), engine.session(Identity("alice"))
    ended = in_thread(lambda: his.run(ENDLESS).read_all())
    found = wait_until(lambda: told_of(admin, ENDLESS), "the query is RUNNING")
    query_id, user, state, _, _ = found[0]
    assert (user, state) == ("bob", "RUNNING")
    assert told_of(his, ENDLESS)
    assert [row[1] for row in rows(hers, SEED)] == ["alice"]
    with pytest.raises(NotFoundError, match="is running"):
        do(hers, f"KILL QUERY '{query_id}'")
    do(admin, f"KILL QUERY '{query_id}'")
    with pytest.raises(QueryCanceled):
        ended()
    outcome = 'state, error_code, error_type, "end" IS NULL'
    after = f"SELECT {outcome} FROM system.runtime.queries WHERE query_id = '{query_id}'"
    assert rows(his, after) == [("CANCELED", "QUERY_CANCELED", "USER_ERROR", False)]
    assert rows(hers, after) == []


def test_the_time_of_what_runs_grows(engine: Engine) -> None:
    admin, his = engine.session(), bob(engine)
    ended = in_thread(lambda: his.run(ENDLESS).read_all())
    first = wait_until(lambda: told_of(admin, ENDLESS), "the query is RUNNING")[0][3]
    wait_until(lambda: told_of(admin, ENDLESS)[0][3] > first, "its time grows")
    his.cancel()
    with pytest.raises(QueryCanceled):
        ended()


def test_what_is_read_is_counted_while_it_is_read(engine: Engine) -> None:
    """The rows of a scan that another session has read half of."""
    admin, his = engine.session(), bob(engine)
    do(admin, "CREATE TABLE t AS SELECT value AS a FROM range(200000)")
    result = his.run("SELECT a FROM t")
    batches = iter(result)
    next(batches)
    query = "SELECT state, input_rows, output_rows FROM system.runtime.queries WHERE query = 'SELECT a FROM t'"
    state, read, given = rows(admin, query)[0]
    assert state == "RUNNING"
    assert 0 < given <= read <= 200_000
    assert sum(batch.num_rows for batch in batches) + given == 200_000
    assert rows(admin, query) == [("FINISHED", 200_000, 200_000)]


def test_a_statement_that_changes_rows_counts_them(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT value AS a FROM range(10)")
    do(session, "UPDATE t SET a = -a WHERE a > 6")
    query = "SELECT written_rows, catalogs FROM system.runtime.queries WHERE statement_kind = 'Update'"
    assert rows(session, query) == [(3, ["lake"])]


def test_a_plan_is_reported_without_its_values(engine: Engine) -> None:
    session = engine.session()
    rows(session, "SELECT * FROM range(3) AS r WHERE 'hidden\n  TableScan: words' <> $1", ["also\n  Filter: hidden"])
    told = rows(
        session, "SELECT plan_summary FROM system.runtime.queries WHERE query LIKE '%range(3)%' AND state = 'FINISHED'"
    )
    assert "hidden" not in told[0][0]
    assert "words" not in told[0][0]


def test_a_session_that_was_closed_is_gone(engine: Engine) -> None:
    admin, his = engine.session(), bob(engine)
    query = "SELECT count(*) FROM system.runtime.sessions WHERE user = 'bob'"
    assert rows(admin, query) == [(1,)]
    his.close()
    assert rows(admin, query) == [(0,)]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (None, None),
        ("PARSE_ERROR", "USER_ERROR"),
        ("INTERNAL_ERROR", "INTERNAL_ERROR"),
        ("OUT_OF_MEMORY", "INSUFFICIENT_RESOURCES"),
        ("QUERY_TIMEOUT", "INSUFFICIENT_RESOURCES"),
        ("CATALOG_UNAVAILABLE", "EXTERNAL"),
    ],
)
def test_whose_matter_an_error_is(code: str | None, kind: str | None) -> None:
    assert error_type(code) == kind
