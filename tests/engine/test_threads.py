"""Many threads, each with its session, on one engine: definitions, changes, queries and mounts at the same time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pinakes.core.errors import (
    CatalogExists,
    CatalogNotFound,
    CatalogUnavailable,
    ColumnExists,
    ColumnNotFound,
    CommitConflict,
    NamespaceNotFound,
    PinakesError,
    TableExists,
    TableNotFound,
    ViewExists,
)
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine, chance, do, how_many, in_thread, rows, seed_of

THREADS = 16
STEPS = how_many(8, 40)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


# --- a mixture of everything -------------------------------------------------------------------------------------

EXPECTED = (
    CatalogExists, CatalogNotFound, CatalogUnavailable, ColumnExists, ColumnNotFound, CommitConflict, NamespaceNotFound,
    TableExists, TableNotFound, ViewExists,
)  # fmt: skip
"""What one thread may meet because of what the others do. CatalogUnavailable: the catalog was detached while its names
were looked up."""


class Worker:
    """One thread's work: its own table, which only it changes, and a shared one."""

    def __init__(self, engine: Engine, number: int, dice: Random, directory: Path) -> None:
        self.session, self.number, self.dice, self.directory = engine.session(), number, dice, directory
        self.own: Counter[int] = Counter()
        self.acknowledged: list[int] = []
        self.met: Counter[str] = Counter()

    def work(self) -> None:
        do(self.session, f"CREATE TABLE own{self.number} (a INT)")
        for step in range(STEPS):
            action = self.dice.choice((self.change_own, self.insert_shared, self.define, self.mount, self.read))
            try:
                action(step)
            except EXPECTED as error:
                self.met[error.code] += 1
            self.check_own()

    def change_own(self, step: int) -> None:
        """Nobody else touches this table: nothing may go wrong here."""
        table = f"own{self.number}"
        kind = self.dice.randrange(3)
        try:
            if kind == 0:
                do(self.session, f"INSERT INTO {table} VALUES ({step}), ({step})")
                self.own[step] += 2
            elif kind == 1:
                changed = do(self.session, f"UPDATE {table} SET a = a + 1000 WHERE a < 1000")
                moved = {a: n for a, n in self.own.items() if a < 1000}
                assert changed == sum(moved.values())
                self.own = Counter({a: n for a, n in self.own.items() if a >= 1000})
                for a, n in moved.items():
                    self.own[a + 1000] += n
            else:
                do(self.session, f"DELETE FROM {table} WHERE a > 1003")
                self.own = Counter({a: n for a, n in self.own.items() if a <= 1003})
        except PinakesError as error:
            raise AssertionError(f"on a table of its own: {error.code}: {error}") from error

    def check_own(self) -> None:
        found = dict(rows(self.session, f"SELECT a, count(*) FROM own{self.number} GROUP BY a"))
        assert found == {a: n for a, n in self.own.items() if n}, (found, self.own)

    def insert_shared(self, step: int) -> None:
        new = self.number * 1000 + step
        do(self.session, f"INSERT INTO shared (id) VALUES ({new})")
        self.acknowledged.append(new)

    def define(self, step: int) -> None:
        name = f"x{self.dice.randrange(3)}"
        sql = self.dice.choice((
            f"CREATE TABLE {name} AS SELECT {step} AS a", f"DROP TABLE {name}",
            f"CREATE OR REPLACE TABLE {name} (a INT)",
            f"ALTER TABLE {name} ADD COLUMN b{step} INT", f"CREATE VIEW v{name} AS SELECT count(*) AS n FROM shared",
            f"CREATE SCHEMA IF NOT EXISTS s{self.number}", f"ALTER TABLE {name} RENAME TO {name}_{self.number}",
            f"CREATE TABLE IF NOT EXISTS s{self.number}.t (a INT)", f"DROP VIEW IF EXISTS v{name}",
        ))  # fmt: skip
        do(self.session, sql)

    def mount(self, step: int) -> None:
        """All threads attach the same few directories under the same few names."""
        name = f"m{self.dice.randrange(2)}"
        where = self.directory / name
        sql = self.dice.choice((
            f"ATTACH '{where}' AS {name} (TYPE sqlite)", f"ATTACH OR REPLACE '{where}' AS {name} (TYPE sqlite)",
            f"DETACH {name}", f"CREATE SCHEMA IF NOT EXISTS {name}.s", f"SHOW TABLES IN {name}.s",
            f"CREATE TABLE IF NOT EXISTS {name}.s.t AS SELECT 1 AS a", f"SELECT sum(a) FROM {name}.s.t",
            f"INSERT INTO {name}.s.t SELECT 1",
        ))  # fmt: skip
        do(self.session, sql)

    def read(self, step: int) -> None:
        seen = [i for (i,) in rows(self.session, "SELECT id FROM shared")]
        assert len(seen) == len(set(seen))
        assert set(self.acknowledged) <= set(seen), "an acknowledged row is not seen"
        rows(self.session, "SHOW TABLES")
        rows(self.session, "SHOW CATALOGS")
        rows(self.session, f"SELECT o.a, s.id FROM own{self.number} AS o LEFT JOIN shared AS s ON o.a = s.id")


@pytest.mark.slow
def test_everything_at_once(engine: Engine, tmp_path: Path) -> None:
    seed = seed_of("threads")
    main = engine.session()
    do(main, "CREATE TABLE shared (id BIGINT)")
    workers = [Worker(engine, n, chance(seed, n), tmp_path) for n in range(THREADS)]
    for joined in [in_thread(worker.work) for worker in workers]:
        joined()
    found = sorted(i for (i,) in rows(main, "SELECT id FROM shared"))
    assert found == sorted(i for worker in workers for i in worker.acknowledged)
    assert len(found) > THREADS // 2
    for worker in workers:
        worker.check_own()
    assert [q.shown for q in engine.tracker.snapshot() if q.ended is None] == []


def test_threads_share_a_session(engine: Engine) -> None:
    session = engine.session()
    do(session, "CREATE TABLE t (a INT)")
    do(session, "INSERT INTO t VALUES (1), (2), (3)")

    def ask(number: int) -> None:
        for step in range(10):
            sql = f"SELECT sum(a) + {number} + {step} FROM t WHERE a <= $1"
            assert rows(session, sql, [2]) == [(3 + number + step,)]

    for joined in [in_thread(lambda n=n: ask(n)) for n in range(8)]:
        joined()


# --- ATTACH and DETACH -------------------------------------------------------------------------------------------


def test_an_attach_is_seen_by_the_next_statement_of_all(engine: Engine, tmp_path: Path) -> None:
    sessions = [engine.session() for _ in range(THREADS)]
    first = sessions[0]
    for turn in range(3):
        do(first, f"ATTACH '{tmp_path / 'other'}' AS other (TYPE sqlite)")
        if turn == 0:
            do(first, "CREATE SCHEMA other.s")
            do(first, "CREATE TABLE other.s.t AS SELECT 7 AS a")
        for joined in [in_thread(lambda s=s: rows(s, "SELECT a FROM other.s.t")) for s in sessions]:
            assert joined() == [(7,)]
        do(first, "DETACH other")
        for joined in [in_thread(lambda s=s: rows(s, "SELECT a FROM other.s.t")) for s in sessions]:
            with pytest.raises(PinakesError) as caught:
                joined()
            assert caught.value.code in ("CATALOG_NOT_FOUND", "NAMESPACE_NOT_FOUND")


def test_a_query_on_a_detached_catalog_finishes(engine: Engine, tmp_path: Path) -> None:
    session = engine.session()
    _attach_with_rows(session, tmp_path)
    result = session.run("SELECT a FROM other.s.t")
    batches = iter(result)
    read = next(batches).num_rows
    unread = engine.session().run("SELECT count(*) FROM other.s.t")
    do(engine.session(), "DETACH other")
    assert read + sum(batch.num_rows for batch in batches) == 100_000
    assert unread.read_all().column(0).to_pylist() == [100_000]
    with pytest.raises(PinakesError):
        session.run("SELECT a FROM other.s.t")


def test_a_replaced_mount_shows_the_new_catalog(engine: Engine, tmp_path: Path) -> None:
    session, other = engine.session(), engine.session()
    for name, value in (("one", 1), ("two", 2)):
        do(session, f"ATTACH OR REPLACE '{tmp_path / name}' AS c (TYPE sqlite)")
        do(session, "CREATE SCHEMA c.s")
        do(session, f"CREATE TABLE c.s.t AS SELECT {value} AS a")
        assert rows(other, "SELECT a FROM c.s.t") == [(value,)]
    running = other.run("SELECT a FROM c.s.t")
    do(session, f"ATTACH OR REPLACE '{tmp_path / 'one'}' AS c (TYPE sqlite)")
    assert running.read_all().column(0).to_pylist() == [2]
    assert rows(other, "SELECT a FROM c.s.t") == [(1,)]


@pytest.mark.slow
def test_attach_and_detach_while_others_query(engine: Engine, tmp_path: Path) -> None:
    """Whoever asks sees the catalog whole, or not at all."""
    _attach_with_rows(engine.session(), tmp_path)
    over = threading.Event()

    def ask() -> Counter[str]:
        session = engine.session()
        met: Counter[str] = Counter()
        while not over.is_set():
            try:
                assert rows(session, "SELECT count(*), max(a) FROM other.s.t") == [(100_000, 99_999)]
                met["rows"] += 1
            except (CatalogNotFound, NamespaceNotFound) as error:
                met[error.code] += 1
            except CatalogUnavailable as error:
                met["detached" if "the catalog was detached" in error.message else "other"] += 1
        return met

    asking = [in_thread(ask) for _ in range(4)]
    session = engine.session()
    for _ in range(how_many(10, 200)):
        do(session, "DETACH other")
        do(session, f"ATTACH '{tmp_path / 'other'}' AS other (TYPE sqlite)")
    over.set()
    met = sum((joined() for joined in asking), Counter())
    assert met["rows"] > 0
    assert met["other"] == 0


def _attach_with_rows(session: Session, directory: Path) -> None:
    do(session, f"ATTACH '{directory / 'other'}' AS other (TYPE sqlite)")
    do(session, "CREATE SCHEMA other.s")
    do(session, "CREATE TABLE other.s.t AS SELECT value AS a FROM range(100000)")
