"""The caches as sessions use them: who shares what, plans that are run again, results, flushing, one load for many."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinakes.caches.caching_catalog import cache_catalog
from pinakes.core.catalog import Catalog, IcebergTable
from pinakes.core.errors import CatalogUnavailable, DataCorrupt, InvalidArgument
from pinakes.core.identity import Identity
from pinakes.core.names import Namespace
from pinakes.engine.catalogs.registry import Audience, Mount, MountId
from pinakes.engine.engine import Engine
from pinakes.engine.procedures.runtime.flush_cache import flush_cache
from pinakes.engine.session import Session
from pinakes.providers.sqlite import SqliteCatalog
from tests.engine.support import PATIENCE, an_engine
from tests.system_tables.counting import CountingCatalog

ADMIN = frozenset({"admin"})


def rows(session: Session, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in session.run(sql, parameters).read_all().to_pylist()]


def hits(engine: Engine, cache: str) -> int:
    return next(stats.hits for stats in engine.caches.stats() if stats.name == cache)


def entries(engine: Engine, cache: str) -> int:
    return next(stats.entries for stats in engine.caches.stats() if stats.name == cache)


# --- plans -------------------------------------------------------------------------------------------------------


def test_sessions_of_one_user_share_plans_and_those_of_another_do_not() -> None:
    with an_engine() as engine:
        alice, again, bob = (engine.session(Identity(n, t)) for n, t in (("alice", "a"), ("alice", "a"), ("bob", "b")))
        alice.run("CREATE TABLE t AS SELECT 1 AS a")
        assert rows(alice, "SELECT a, current_user FROM t") == [(1, "alice")]
        assert rows(again, "SELECT a, current_user FROM t") == [(1, "alice")]
        assert hits(engine, "plans") == 1
        assert rows(bob, "SELECT a, current_user FROM t") == [(1, "bob")]
        assert hits(engine, "plans") == 1


def test_a_plan_is_another_under_other_settings_in_another_place_and_with_other_parameters() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE SCHEMA other")
        session.run("CREATE TABLE t AS SELECT TIMESTAMPTZ '2024-01-01 00:00:00Z' AS at, 1 AS a")
        session.run("CREATE TABLE other.t AS SELECT TIMESTAMPTZ '2024-01-01 00:00:00Z' AS at, 2 AS a")
        sql = "SELECT a, CAST(at AS VARCHAR) AS at FROM t"
        utc = rows(session, sql)
        session.run("SET time_zone = 'Asia/Tokyo'")
        assert rows(session, sql) != utc
        session.run("RESET time_zone")
        assert rows(session, sql) == utc
        session.run("USE other")
        assert rows(session, sql)[0][0] == 2
        asked = [rows(session, "SELECT $1 / 2 AS half", [given]) for given in (3, 3.0, 5, True and 3)]
        assert asked == [[(1,)], [(1.5,)], [(2,)], [(1,)]]


def test_sessions_and_catalogs_that_come_and_go_take_no_plan_of_others(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session(Identity("alice"))
        session.run("CREATE TABLE t AS SELECT 1 AS a")
        assert rows(session, "SELECT * FROM t") == [(1,)]
        passing = engine.session(Identity("bob"))
        passing.run("CREATE TEMP TABLE x AS SELECT 1 AS a")
        passing.run(f"ATTACH '{tmp_path / 'own'}' AS own (TYPE sqlite, VISIBILITY user)")
        passing.run(f"ATTACH '{tmp_path / 'mine'}' AS mine (TYPE sqlite, VISIBILITY session)")
        passing.run("CREATE SCHEMA mine.s")
        passing.close()
        before = hits(engine, "plans")
        assert rows(engine.session(Identity("alice")), "SELECT * FROM t") == [(1,)]
        assert hits(engine, "plans") == before + 1


def test_what_is_temporary_goes_before_a_plan_that_is_known() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE TABLE t AS SELECT 1 AS a")
        assert [rows(session, "SELECT a FROM t") for _ in range(2)] == [[(1,)], [(1,)]]
        session.run("CREATE TEMP TABLE t AS SELECT 2 AS a")
        assert rows(session, "SELECT a FROM t") == [(2,)]
        session.run("DROP TABLE temp.t")
        assert rows(session, "SELECT a FROM t") == [(1,)]


def test_a_catalog_that_is_attached_may_change_what_a_name_means(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE SCHEMA s")
        session.run("CREATE TABLE s.t AS SELECT 1 AS a")
        assert rows(session, "SELECT a FROM s.t") == [(1,)]
        session.run(f"ATTACH '{tmp_path}' AS s (TYPE sqlite, DEFAULT_NAMESPACE 'n')")
        session.run("CREATE SCHEMA s.n")
        session.run("CREATE TABLE s.n.t AS SELECT 2 AS a")
        assert rows(session, "SELECT a FROM s.t") == [(2,)]
        session.run("DETACH s")
        assert rows(session, "SELECT a FROM s.t") == [(1,)]


@pytest.mark.parametrize("remembered", ["true", "false"])
def test_non_deterministic_functions_are_computed_each_time(remembered: str) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run(f"SET result_cache = {remembered}")
        session.run("CREATE TABLE t AS SELECT 1 AS a")
        session.run("CREATE VIEW v AS SELECT a, random() AS r, now() AS n FROM t")
        for sql in ("SELECT r FROM v", "SELECT n FROM v", "SELECT random() FROM t", "SELECT now()", "SELECT uuid()"):
            assert rows(session, sql) != rows(session, sql), sql
        assert entries(engine, "results") == 0


def test_a_file_that_goes_is_missed_by_a_plan_that_is_known(tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        session = engine.session()
        session.run("CREATE TABLE t AS SELECT 1 AS a")
        assert [rows(session, "SELECT a FROM t") for _ in range(2)] == [[(1,)], [(1,)]]
        next(tmp_path.rglob("*.parquet")).unlink()
        with pytest.raises(DataCorrupt, match="cannot be read: No such file"):
            rows(session, "SELECT a FROM t")


# --- results -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["SELECT a FROM s.t", "SELECT sum(a) AS a FROM s.t"])
@pytest.mark.parametrize("with_temp", [False, True])
def test_files_that_another_engine_replaced_are_not_missed(asked: str, with_temp: bool, tmp_path: Path) -> None:
    """`with_temp`: of a session that has something temporary no plan is kept. The second query has no plan either."""
    with an_engine(tmp_path / "lake") as engine, an_engine(tmp_path / "lake") as other:
        session, outside = engine.session(), other.session()
        session.run("CREATE SCHEMA s")
        session.run("CREATE TABLE s.t AS SELECT 1 AS a")
        if with_temp:
            session.run("CREATE TEMP TABLE x AS SELECT 1 AS a")
        assert rows(session, "SELECT a FROM s.t") == [(1,)]
        outside.run("INSERT OVERWRITE s.t SELECT 2")
        assert rows(session, "SELECT a FROM s.t") == [(1,)]  # its description is still remembered, as it may be
        outside.run("CALL lake.system.expire_snapshots('s.t', now() + INTERVAL '1' DAY, 1)").read_all()
        assert rows(session, asked) == [(2,)]


def test_a_table_that_is_damaged_is_reported(tmp_path: Path) -> None:
    with an_engine(tmp_path / "lake") as engine:
        session = engine.session()
        session.run("CREATE TABLE t AS SELECT 1 AS a")
        assert rows(session, "SELECT a FROM t") == [(1,)]
        next((tmp_path / "lake").rglob("*.parquet")).unlink()
        for _ in range(2):
            with pytest.raises(DataCorrupt, match="No such file"):
                rows(session, "SELECT a FROM t")


def test_a_result_is_remembered_whole_or_not_at_all() -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("SET result_cache = on")
        session.run("CREATE TABLE t AS SELECT x AS a FROM unnest(range(0, 100000)) AS u(x)")
        result = session.run("SELECT a FROM t")
        batches = iter(result)  # kept: a result whose iterator is gone is closed
        next(batches)
        result.close()
        assert entries(engine, "results") == 0
        assert [len(rows(session, "SELECT a FROM t")) for _ in range(2)] == [100_000] * 2
        assert (entries(engine, "results"), hits(engine, "results")) == (1, 1)
        session.run("SET GLOBAL cache.results.max_bytes = 100000")
        assert len(rows(session, "SELECT a FROM t")) == 100_000
        assert entries(engine, "results") == 0


def test_results_of_users_with_other_tokens_are_apart() -> None:
    with an_engine() as engine:
        alice, bob = engine.session(Identity("u", "a")), engine.session(Identity("u", "b"))
        alice.run("CREATE TABLE t AS SELECT 1 AS a")
        for session in (alice, bob):
            session.run("SET result_cache = on")
            rows(session, "SELECT a FROM t")
        assert (entries(engine, "results"), hits(engine, "results")) == (2, 0)
        assert not any(token in repr(list(engine.caches.results.cache.uses())) for token in ("'a'", "'b'"))


def test_results_go_with_their_catalog(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("SET result_cache = on")
        session.run(f"ATTACH '{tmp_path}' AS far (TYPE sqlite, DEFAULT_NAMESPACE 's')")
        session.run("CREATE SCHEMA far.s")
        for table in ("t", "far.t"):
            session.run(f"CREATE TABLE {table} AS SELECT 1 AS a")
            assert rows(session, f"SELECT a FROM {table}") == [(1,)]
        assert (entries(engine, "results"), entries(engine, "plans")) == (2, 2)
        session.run("DETACH far")
        assert (entries(engine, "results"), entries(engine, "plans")) == (1, 1)


def test_a_result_that_is_read_while_its_catalog_goes_is_not_kept(tmp_path: Path) -> None:
    with an_engine() as engine:
        session, other = engine.session(), engine.session()
        session.run("SET result_cache = on")
        other.run(f"ATTACH '{tmp_path}' AS far (TYPE sqlite, DEFAULT_NAMESPACE 's', VISIBILITY all)")
        other.run("CREATE SCHEMA far.s")
        other.run("CREATE TABLE far.t AS SELECT 1 AS a")
        result = session.run("SELECT a FROM far.t")
        other.run("DETACH far")
        assert result.read_all().num_rows == 1
        assert entries(engine, "results") == 0


def test_who_still_works_with_a_catalog_that_goes_keeps_no_client_of_it() -> None:
    with an_engine() as engine:
        session = engine.session(Identity("alice", "token"))
        number = engine.next_mount_id()
        engine.registry.mount(a_mount(engine, number))
        mounted = session.catalogs.get("far")
        session.run("DETACH far")
        assert mounted.catalog.list_tables(()) == ["t"]  # who has begun may go on
        assert mounted.catalog is mounted.catalog
        assert entries(engine, "clients") == 0


def a_mount(engine: Engine, number: str) -> Mount:
    """A catalog that passes tokens on."""
    inner = CountingCatalog({(): (["t"], [])})

    def open(identity: Identity) -> Catalog:
        return cache_catalog(inner, engine.caches, mount=f"{number}.0", user=identity.fingerprint)

    owner, audience = "alice", Audience("user", "alice")
    return Mount(
        "far", "counting", "attach", owner, open, audience, pass_token=True, caches=engine.caches, id=MountId(number)
    )


# --- flushing and limits -----------------------------------------------------------------------------------------


def test_flushing(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run(f"ATTACH '{tmp_path}' AS far (TYPE sqlite)")
        for table in ("t", "u"):
            session.run(f"CREATE TABLE {table} AS SELECT 1 AS a")
            rows(session, f"SELECT a FROM {table}")
        rows(session, "SHOW SCHEMAS IN far")
        assert flush_cache(session, "table_metadata", "lake.default.t") == 1
        assert flush_cache(session, "manifests", "t") >= 1
        assert flush_cache(session, "Table_Metadata", "lake") >= 1
        assert entries(engine, "listings") > flush_cache(session, "listings", "far") > 0
        flush_cache(session, "all")
        assert [stats.entries for stats in engine.caches.stats()] == [0] * 9
        with pytest.raises(InvalidArgument, match="there is no cache 'nope'; available: all, clients, footers"):
            flush_cache(session, "nope")
        with pytest.raises(InvalidArgument, match="the entries of statements are of no single table"):
            flush_cache(session, "statements", "lake.default.t")
        with pytest.raises(InvalidArgument, match="footers are kept by file: name a table"):
            flush_cache(session, "footers", "lake")


# --- one load for many -------------------------------------------------------------------------------------------


def all_at_once(count: int, work: Callable[[int], object]) -> list[BaseException | object]:
    found: list[BaseException | object] = [None] * count
    ready = threading.Barrier(count)

    def run(number: int) -> None:
        ready.wait(PATIENCE)
        try:
            found[number] = work(number)
        except BaseException as error:  # noqa: BLE001 - told by the test
            found[number] = error

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    return found


def test_a_user_has_one_client_and_one_of_each_table_however_many_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteCatalog, "PASSES_TOKEN", True, raising=False)
    with an_engine() as engine:
        identity = Identity("alice", "a", ADMIN)
        maker = engine.session(identity)
        maker.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, PASS_TOKEN true)")
        maker.run("CREATE SCHEMA one.s")
        maker.run("CREATE TABLE one.s.t AS SELECT 1 AS a")
        flush_cache(maker, "all")
        before = {stats.name: stats.loads for stats in engine.caches.stats()}
        sessions = [engine.session(identity) for _ in range(64)]
        assert all_at_once(64, lambda n: rows(sessions[n], "SELECT a FROM one.s.t")) == [[(1,)]] * 64
        loads = {stats.name: stats.loads - before[stats.name] for stats in engine.caches.stats()}
        assert (loads["clients"], loads["table_metadata"], loads["session_catalogs"]) == (1, 1, 1)


def test_a_client_that_can_not_be_opened_fails_nobody_who_comes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteCatalog, "PASSES_TOKEN", True, raising=False)
    with an_engine() as engine:
        session = engine.session(Identity("alice", "a", ADMIN))
        session.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, PASS_TOKEN true, VERIFY false)")
        with monkeypatch.context() as broken:
            broken.setattr(SqliteCatalog, "open", classmethod(_down))
            with pytest.raises(CatalogUnavailable):
                rows(session, "SHOW SCHEMAS IN one")
        assert rows(session, "SHOW SCHEMAS IN one") == [("information_schema",)]


def _down(*_: object, **__: object) -> None:
    raise CatalogUnavailable("down")


class _Gate:
    """Tables of a name are loaded when it opens; until then whoever asks for one waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        self.entered, self.opens, self.calls = threading.Event(), threading.Event(), 0
        self.fails = False
        plain = SqliteCatalog.load_table

        def load(catalog: SqliteCatalog, namespace: Namespace, asked: str) -> IcebergTable:
            if asked == name:
                self.calls += 1
                self.entered.set()
                assert self.opens.wait(PATIENCE)
                if self.fails:
                    raise CatalogUnavailable("down")
            return plain(catalog, namespace, asked)

        monkeypatch.setattr(SqliteCatalog, "load_table", load)


def test_a_slow_table_does_not_delay_readers_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with an_engine() as engine:
        session, other = engine.session(), engine.session()
        for table in ("slow", "quick"):
            session.run(f"CREATE TABLE {table} AS SELECT 1 AS a")
        flush_cache(session, "all")
        gate = _Gate(monkeypatch, "slow")
        waiting = threading.Thread(target=lambda: rows(session, "SELECT a FROM slow"))
        waiting.start()
        assert gate.entered.wait(PATIENCE)
        assert rows(other, "SELECT a FROM quick") == [(1,)]
        assert waiting.is_alive()
        gate.opens.set()
        waiting.join(PATIENCE)
        assert rows(other, "SELECT a FROM slow") == [(1,)]
        assert gate.calls == 1


def test_a_table_that_can_not_be_loaded_fails_those_who_wait_and_nobody_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with an_engine() as engine:
        sessions = [engine.session() for _ in range(64)]
        sessions[0].run("CREATE TABLE t AS SELECT 1 AS a")
        flush_cache(sessions[0], "all")
        gate = _Gate(monkeypatch, "t")
        gate.fails = True
        gate.opens.set()
        found = all_at_once(64, lambda n: rows(sessions[n], "SELECT a FROM t"))
        assert {type(error) for error in found} == {CatalogUnavailable}
        gate.fails = False
        assert all_at_once(64, lambda n: rows(sessions[n], "SELECT a FROM t")) == [[(1,)]] * 64
