"""Plans that are run again, and tables that are open already: where they must not be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.catalog import SupportsTables
from pinakes.core.errors import TableNotFound
from pinakes.core.identity import Identity
from pinakes.engine.datafusion.functions import TABLE_FUNCTIONS, functions
from pinakes.engine.describe import describe
from pinakes.engine.engine import Engine
from pinakes.providers import registry
from tests.engine.guarded_catalog import GOLD, HIDDEN, TIN
from tests.engine.support import an_engine, do, rows

ADMIN = frozenset({"admin"})


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


def hits(engine: Engine, cache: str = "plans") -> int:
    return next(stats.hits for stats in engine.caches.stats() if stats.name == cache)


# --- transactions ------------------------------------------------------------------------------------------------


def test_a_transaction_sees_its_own_changes_whatever_plan_is_known(engine: Engine) -> None:
    session, other = engine.session(), engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    for each in (session, other):
        assert [rows(each, "SELECT * FROM t ORDER BY a") for _ in range(2)] == [[(1,)]] * 2
    do(session, "BEGIN")
    assert rows(session, "SELECT * FROM t ORDER BY a") == [(1,)]
    do(session, "INSERT INTO t VALUES (2)")
    assert rows(session, "SELECT * FROM t ORDER BY a") == [(1,), (2,)]
    assert rows(other, "SELECT * FROM t ORDER BY a") == [(1,)]
    do(session, "ROLLBACK")
    for each in (session, other):
        assert rows(each, "SELECT * FROM t ORDER BY a") == [(1,)]


def test_a_transaction_stays_at_what_it_read_first(engine: Engine) -> None:
    session, other = engine.session(), engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    do(session, "BEGIN")
    assert rows(session, "SELECT a FROM t") == [(1,)]
    do(other, "INSERT INTO t VALUES (2)")
    assert rows(other, "SELECT count(*) FROM t") == rows(other, "SELECT count(*) FROM t") == [(2,)]
    assert rows(session, "SELECT count(*) FROM t") == [(1,)]
    do(session, "COMMIT")
    assert rows(session, "SELECT count(*) FROM t") == [(2,)]


def test_columns_of_a_transaction_that_was_rolled_back_are_not_those_of_the_next(engine: Engine) -> None:
    """Both make a schema of the same number, over the same snapshot of the same metadata."""
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    for column in ("x", "y"):
        do(session, "BEGIN")
        do(session, f"ALTER TABLE t ADD COLUMN {column} INT")
        assert session.run("SELECT * FROM t").schema.names == ["a", column]
        do(session, "ROLLBACK")
    assert session.run("SELECT * FROM t").schema.names == ["a"]


# --- what names mean ---------------------------------------------------------------------------------------------


def test_sessions_with_catalogs_of_their_own_share_no_plan(engine: Engine, tmp_path: Path) -> None:
    one, other = (engine.session(Identity("alice", roles=ADMIN)) for _ in range(2))
    for number, session in enumerate((one, other)):
        do(session, f"ATTACH '{tmp_path / str(number)}' AS own (TYPE sqlite, VISIBILITY session)")
        do(session, "CREATE SCHEMA own.s")
        do(session, f"CREATE TABLE own.s.t AS SELECT {number} AS a")
    for _ in range(2):
        assert rows(one, "SELECT a FROM own.s.t") == [(0,)]
        assert rows(other, "SELECT a FROM own.s.t") == [(1,)]
    assert hits(engine) == 2


# --- what DataFusion is told -------------------------------------------------------------------------------------


def test_options_of_a_plan_hold_when_it_is_run_again(engine: Engine) -> None:
    """Columns of one name meet: filters that operators make while they run would lose rows
    (`engine/datafusion/workarounds/join_filter_columns.py`)."""
    session = engine.session()
    do(session, "CREATE TABLE o (amount INT, id INT)")
    do(session, "CREATE TABLE p (amount INT, order_id INT, customer INT)")
    do(session, "CREATE TABLE c (number INT)")
    for first in range(0, 5000, 1000):
        do(session, f"INSERT INTO o SELECT 100, i FROM unnest(range({first}, {first} + 1000)) AS u(i)")
    do(session, "INSERT INTO p SELECT 5000 - i, i, i % 50 FROM unnest(range(0, 5000, 5)) AS u(i)")
    do(session, "INSERT INTO c SELECT i FROM unnest(range(0, 50)) AS u(i)")
    joined = "FROM o JOIN p ON o.id = p.order_id JOIN c ON p.customer = c.number"
    for setting in ("batch_size = 16", "target_partitions = 1"):
        do(session, f"SET {setting}")  # so that there is a filter before all is read
    sql = f"SELECT o.amount, p.amount {joined} ORDER BY 2 DESC LIMIT 1"
    assert [rows(session, sql) for _ in range(3)] == [[(100, 5000)]] * 3
    assert hits(engine) == 2


def test_a_long_text_with_short_constants_is_planned_once(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
    items = ", ".join(f"a + {n} AS a{n}" for n in range(200))
    sql = f"SELECT 'it''s' AS first, {items}, 'last' AS last FROM t WHERE b = 'x'"
    assert len({str(rows(session, sql)) for _ in range(2)}) == 1
    assert hits(engine) == 1
    long = f"SELECT '{'y' * 2000}' AS first, {items} FROM t"
    assert len({str(rows(session, long)) for _ in range(2)}) == 1
    assert hits(engine) == 1  # its batches have another size


def test_what_was_computed_once_is_computed_again(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT i AS a, i % 3 AS g FROM unnest(range(0, 300)) AS u(i)")
    sql = (
        "WITH s AS (SELECT g, sum(a) AS total, count(*) AS n FROM t GROUP BY g) "
        "SELECT sum(x.total), sum(y.n) FROM s AS x JOIN s AS y ON x.g = y.g WHERE x.total > 0"
    )
    assert "computed once" in str(rows(session, f"EXPLAIN {sql}"))
    assert [rows(session, sql) for _ in range(2)] == [[(44850, 300)]] * 2
    assert hits(engine) == 0
    do(session, "INSERT INTO t VALUES (1000, 0)")
    assert rows(session, sql) == [(45850, 301)]


def test_the_clock_moves_on_for_time_travel(engine: Engine) -> None:
    session = engine.session()
    do(session, "SET result_cache = on")
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    sql = "SELECT count(*) FROM t FOR TIMESTAMP AS OF now()"
    assert rows(session, sql) == [(1,)]
    do(session, "INSERT INTO t VALUES (2)")
    assert rows(session, sql) == [(2,)]
    assert hits(engine) == 0


def test_every_function_that_gives_something_else_each_time_is_known(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    unsteady = {f.name for f in functions() if not f.deterministic} - {f.name for f in TABLE_FUNCTIONS}
    assert {"now", "random", "uuid"} <= unsteady
    for name, uses in {"pi": 1, **dict.fromkeys(unsteady, 0)}.items():
        before = hits(engine)
        for _ in range(2):
            do(session, f"SELECT {name}() FROM t")
        assert hits(engine) - before == uses, name


# --- rights ------------------------------------------------------------------------------------------------------


def test_who_still_works_with_an_old_secret_leaves_nothing_to_others(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.TYPES, "guarded", "tests.engine.guarded_catalog:GuardedCatalog")
    session = engine.session(Identity("alice", roles=ADMIN))
    do(session, f"CREATE SHARED SECRET gate (TYPE bearer, TOKEN '{GOLD}')")
    do(session, f"ATTACH '{tmp_path}' AS one (TYPE guarded, SECRET gate, VISIBILITY all)")
    do(session, "CREATE SCHEMA one.s")
    do(session, f"CREATE TABLE one.s.{HIDDEN} AS SELECT 1 AS a")
    held = session.catalogs.get("one").catalog
    assert isinstance(held, SupportsTables)
    do(session, f"CREATE OR REPLACE SHARED SECRET gate (TYPE bearer, TOKEN '{TIN}')")
    assert held.list_tables(("s",)) == [HIDDEN]
    assert held.load_table(("s",), HIDDEN).name == HIDDEN
    assert rows(session, "SHOW TABLES IN one.s") == []
    with pytest.raises(TableNotFound):
        rows(session, f"SELECT a FROM one.s.{HIDDEN}")
    kept = engine.caches.table_metadata.cache.keys()
    assert HIDDEN not in {key.name for key in kept}


# --- what a statement gives, before it runs ----------------------------------------------------------------------


def test_what_a_known_query_gives_is_reported_as_it_is_now(engine: Engine) -> None:
    session, other = engine.session(), engine.session()
    sql = "SELECT * FROM t"
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    planned = describe(session, sql).schema
    result = session.run(sql)
    assert (result.schema, result.read_all().num_rows) == (planned, 1)
    before = hits(engine)
    assert describe(session, sql).schema == planned
    assert hits(engine) == before + 1
    do(other, "ALTER TABLE t ADD COLUMN b VARCHAR")
    assert describe(session, sql).schema == session.run(sql).read_all().schema
    do(session, "BEGIN")
    do(session, "ALTER TABLE t DROP COLUMN b")
    assert describe(session, sql).schema == planned
    do(session, "ROLLBACK")
    described = describe(session, sql).schema
    assert described is not None
    assert described.names == ["a", "b"]
