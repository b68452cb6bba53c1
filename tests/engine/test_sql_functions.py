"""SQL functions: kept by the catalog, limited in size, described to drivers, and answered as DuckDB's macros."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.engine.describe import describe
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine(tmp_path) as engine:
        yield engine.session()


def test_functions_are_kept_with_the_catalog(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, "CREATE FUNCTION f(x INTEGER, y INTEGER DEFAULT 2) RETURNS INTEGER RETURN x * y")
        do(session, "CREATE TEMP MACRO g(x) AS x")
    with an_engine(tmp_path) as engine:
        session = engine.session()
        assert rows(session, "SELECT f(3), f(3, 4)") == [(6, 12)]
        with pytest.raises(PinakesError, match="function g does not exist"):
            rows(session, "SELECT g(1)")


def test_another_engine_on_the_catalog_sees_a_new_body_with_its_listings(tmp_path: Path) -> None:
    with an_engine(tmp_path) as one, an_engine(tmp_path) as other:
        first, second = one.session(), other.session()
        do(first, "CREATE TABLE t AS SELECT 1 AS a")
        do(first, "CREATE MACRO f(x) AS x + 1")
        assert [rows(second, "SELECT f(a) FROM t") for _ in range(3)] == [[(2,)]] * 3
        do(first, "CREATE OR REPLACE MACRO f(x) AS x + 10")
        do(second, "CALL system.runtime.flush_cache('listings')")
        assert rows(second, "SELECT f(a) FROM t") == [(11,)]


def test_functions_that_double_their_argument_end_in_an_error(session: Session) -> None:
    do(session, "CREATE MACRO f0(x) AS x + x")
    started = time.monotonic()
    for number in range(1, 10):
        do(session, f"CREATE MACRO f{number}(x) AS f{number - 1}(x) + f{number - 1}(x)")
    with pytest.raises(NotSupportedError, match="longer than 100,000 characters"):
        rows(session, "SELECT f9(f9(f9(1)))")
    assert time.monotonic() - started < 60


def test_unused_results_of_functions_take_no_time(session: Session) -> None:
    """Each function drops what it computes, so that the result is short, and each calls the one before it twice."""
    do(session, "CREATE MACRO dropped(x) AS 1")
    do(session, "CREATE MACRO f0(x) AS x")
    for number in range(1, 30):
        do(session, f"CREATE MACRO f{number}(x) AS dropped(f{number - 1}(x)) + dropped(f{number - 1}(x))")
    assert rows(session, "SELECT f29(1)") == [(2,)]


def test_many_calls_in_a_statement_are_limited(session: Session) -> None:
    do(session, f"CREATE MACRO long(x) AS x || '{'a' * 5000}'")
    with pytest.raises(NotSupportedError, match="longer than 100,000 characters"):
        rows(session, f"SELECT {', '.join(['length(long(1))'] * 30)}")


def test_prepared_calls_are_described(session: Session) -> None:
    do(session, "CREATE FUNCTION f(x INTEGER, y VARCHAR) RETURNS BIGINT RETURN x + x + length(y)")
    found = describe(session, "SELECT f(?, ?) AS n, ? AS other")
    assert found.schema is not None
    assert found.schema.field("n").type == pa.int64()
    assert found.parameters.names == ["1", "2", "3"]


def test_parameters_keep_their_places(session: Session) -> None:
    do(session, "CREATE MACRO f(a, b) AS b - a - a")
    do(session, "CREATE MACRO unused(a) AS 5")
    assert rows(session, "SELECT ?, f(?, ?), ?", [1, 2, 30, 4]) == [(1, 26, 4)]
    assert rows(session, "SELECT f(:a, :b + :a)", {"a": 1, "b": 10}) == [(9,)]
    assert rows(session, "SELECT unused(?), ?", [1, 2]) == [(5, 2)]


def test_the_property_of_another_program_is_no_function(session: Session) -> None:
    do(session, "CREATE MACRO good(x) AS x")
    do(session, "ALTER SCHEMA \"default\" SET PROPERTIES ('pinakes.function.bad.1' = 'DROP TABLE t')")
    assert rows(session, "SELECT good(1)") == [(1,)]
    with pytest.raises(PinakesError, match="function bad does not exist"):
        rows(session, "SELECT bad(1)")


MACROS = [
    "CREATE MACRO add(a, b) AS a + b",
    "CREATE MACRO scale(a, b := 3) AS a * b",
    "CREATE MACRO pick(c, a, b) AS CASE WHEN c > 0 THEN a ELSE b END",
    "CREATE MACRO nested(a) AS add(scale(a), scale(a, b := 2)) - 1",
    "CREATE MACRO total(x) AS sum(x)",
    "CREATE MACRO big(least) AS TABLE SELECT id, v FROM t WHERE v >= least",
    "CREATE MACRO joined(least) AS TABLE SELECT a.id, b.v FROM big(least) AS a JOIN t AS b ON a.id = b.id",
]
QUERIES = [
    "SELECT add(id, v), add(id + 1, v * 2) * 2 FROM t ORDER BY id",
    "SELECT scale(id - 1), scale(b := id, a := v) FROM t ORDER BY id",
    "SELECT pick(v - 15, 'high', 'low') FROM t ORDER BY id",
    "SELECT nested(id), nested(nested(id)), nested(NULL) FROM t ORDER BY id",
    "SELECT id % 2, total(v) FROM t GROUP BY id % 2 HAVING total(v) > 10 ORDER BY 1",
    "SELECT * FROM big(15) ORDER BY id",
    "SELECT count(*), max(add(id, v)) FROM big(10) WHERE id < 3",
    "SELECT * FROM joined(20) ORDER BY 1",
    "SELECT x.id FROM big(10) AS x WHERE EXISTS (SELECT 1 FROM big(25) AS y WHERE y.id = x.id + 1)",
    "WITH add(c) AS (SELECT 7) SELECT c, add(c, 1) FROM add",
]


def test_macros_answer_as_in_duckdb(session: Session) -> None:
    other = duckdb.connect()
    for sql in ["CREATE TABLE t (id INTEGER, v INTEGER)", "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, NULL)"]:
        do(session, sql)
        other.execute(sql)
    for sql in MACROS:
        do(session, sql)
        other.execute(sql)
    for sql in QUERIES:
        assert [tuple(map(str, row)) for row in rows(session, sql)] == [
            tuple(map(str, row)) for row in other.execute(sql).fetchall()
        ], sql
