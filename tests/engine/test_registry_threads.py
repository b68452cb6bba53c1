"""Many threads attach, query and detach at once: nobody sees a ghost, and nothing fails but what must."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from pinakes.core.errors import (
    CatalogExists,
    CatalogNotFound,
    NamespaceNotFound,
    PermissionDenied,
    QueryCanceled,
    SecretExists,
    SecretInUse,
    SecretNotFound,
)
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.providers import registry
from tests.engine.probe_catalog import AuthMiddleware, Probe
from tests.engine.support import LONG, an_engine, chance, do, in_thread, rows, seed_of

THREADS = 32
SECONDS = 30.0 if LONG else 2.0
USERS = ("ann", "bob", "cid", "dot")
NAMES = tuple(f"c{n}" for n in range(5))
SECRETS = ("one", "two")

EXPECTED = (
    CatalogExists, CatalogNotFound, NamespaceNotFound, PermissionDenied, SecretExists, SecretInUse, SecretNotFound,
)  # fmt: skip
"""NamespaceNotFound: a first part that is no catalog any more is looked for among the namespaces. PermissionDenied: the
catalog of another user that all may see."""


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """Threads take turns a hundred times as often as they usually do: what can happen, happens."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


@pytest.fixture
def shelf(engine: Engine, tmp_path: Path) -> Path:
    """A warehouse with a table of three rows."""
    session = engine.session()
    for type in ("hadoop, CREATE true", "sqlite"):
        place = tmp_path / type.split(",")[0]
        do(session, f"ATTACH '{place}' AS shelf (TYPE {type})")
        do(session, "CREATE SCHEMA shelf.s")
        do(session, "CREATE TABLE shelf.s.t AS SELECT value AS a FROM range(3)")
        do(session, "DETACH shelf")
    return tmp_path


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> type[Probe]:
    Probe.reset()
    monkeypatch.setitem(registry.TYPES, "probe", "tests.engine.probe_catalog:Probe")
    return Probe


def mounted(engine: Engine) -> list[str]:
    """Everything that is mounted beside the embedded catalog, whoever sees it."""
    return sorted(mount.name for mount in engine.registry.everything() if mount.name != "lake")


def catalogs(session: Session) -> list[str]:
    """Those that are attached."""
    return [str(name) for (name,) in rows(session, "SHOW CATALOGS") if name != "system"]


# --- everything at once ------------------------------------------------------------------------------------------


class Worker:
    def __init__(self, engine: Engine, number: int, dice: Random, shelf: Path) -> None:
        self.engine, self.dice, self.shelf = engine, dice, shelf
        self.session = engine.session(Identity(USERS[number % len(USERS)]))
        self.met: Counter[str] = Counter()

    def work(self, until: float) -> None:
        actions = (self.attach, self.attach, self.detach, self.query, self.query, self.query, self.secret, self.show)
        while time.monotonic() < until:
            action = self.dice.choice(actions)
            try:
                action()
                self.met[action.__name__] += 1
            except EXPECTED as error:
                self.met[error.code] += 1
            self.check_secrets()

    def attach(self) -> None:
        how = self.dice.choice(("", "", "OR REPLACE", "IF NOT EXISTS"))
        replace, missing = (how, "") if how == "OR REPLACE" else ("", how)
        type = self.dice.choice(("hadoop", "sqlite"))
        secret = f", STORAGE_SECRET {self.dice.choice(SECRETS)}" if self.dice.random() < 0.3 else ""
        visibility = self.dice.choice(("session", "user", "user", "all"))
        verify = self.dice.choice(("true", "false"))
        do(
            self.session,
            f"ATTACH {replace} DATABASE {missing} '{self.shelf / type}' AS {self.dice.choice(NAMES)} "
            f"(TYPE {type}, VISIBILITY {visibility}, VERIFY {verify}{secret})",
        )

    def detach(self) -> None:
        how = self.dice.choice(("", "IF EXISTS"))
        name = self.dice.choice(NAMES)
        do(self.session, f"DETACH DATABASE {how} {name}")

    def query(self) -> None:
        name = self.dice.choice(NAMES)
        assert rows(self.session, f"SELECT count(*), sum(a) FROM {name}.s.t") == [(3, 3)]

    def secret(self) -> None:
        name = self.dice.choice(SECRETS)
        create = f"SECRET {self.dice.choice(('', 'IF NOT EXISTS'))} {name}"
        keys = "(TYPE s3, KEY_ID 'k', SECRET 's')"
        text = self.dice.choice((f"CREATE {create} {keys}", f"CREATE OR REPLACE SECRET {name} {keys}"))
        do(self.session, text if self.dice.random() < 0.7 else f"DROP SECRET IF EXISTS {name}")

    def show(self) -> None:
        found = catalogs(self.session)
        assert "lake" in found
        assert len(found) == len(set(found))

    def check_secrets(self) -> None:
        """No mount refers to a secret that is not there."""
        with self.engine.secrets.lock:
            for mount in self.engine.registry.everything():
                for ref in mount.secrets:
                    self.engine.secrets.get(ref)


@pytest.mark.slow
def test_many_threads_attach_query_and_detach(engine: Engine, shelf: Path) -> None:
    seed = seed_of("registry")
    workers = [Worker(engine, n, chance(seed, n), shelf) for n in range(THREADS)]
    until = time.monotonic() + SECONDS
    for wait in [in_thread(lambda worker=worker: worker.work(until)) for worker in workers]:  # type: ignore[misc]
        wait()
    met = sum((worker.met for worker in workers), Counter[str]())
    assert {"attach", "detach", "query", "secret", "show", "CATALOG_EXISTS", "CATALOG_NOT_FOUND"} <= set(met), met
    for worker in workers:
        seen = {name for name in catalogs(worker.session) if name != "lake"}
        assert seen == {m.name for m in worker.session.catalogs.attached()} - {"lake"}
        worker.session.close()
    assert [m for m in engine.registry.everything() if m.audience.visibility == "session"] == []
    _detach_all(engine)
    assert mounted(engine) == []
    assert [name for user in USERS for name in catalogs(engine.session(Identity(user)))] == ["lake"] * len(USERS)
    del workers, worker
    assert _open_databases(shelf) == []


def _detach_all(engine: Engine) -> None:
    for user in USERS:
        session = engine.session(Identity(user, roles=frozenset({"admin"})))
        for name in (n for n in catalogs(session) * 3 if n != "lake"):  # a private one may hide one that all see
            do(session, f"DETACH DATABASE IF EXISTS {name}")


def _open_databases(shelf: Path) -> list[str]:
    """Files of the detached catalogs that this process still holds open."""
    gc.collect()
    held = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that lists them
            held.append(str(handle.readlink()))
    return [path for path in held if path.startswith(str(shelf / "sqlite"))]


# --- what one session does, the next statement of another sees ----------------------------------------------------


def test_a_mount_is_seen_in_the_next_statement_of_others_and_gone_likewise(engine: Engine, shelf: Path) -> None:
    one, other = engine.session(), engine.session()
    for _ in range(20):
        do(one, f"ATTACH '{shelf / 'hadoop'}' AS c (TYPE hadoop)")
        assert rows(other, "SELECT count(*) FROM c.s.t") == [(3,)]
        do(other, "DETACH c")
        with pytest.raises(NamespaceNotFound, match="Nor is a catalog 'c' attached"):
            rows(one, "SELECT * FROM c.s.t")


def test_a_query_on_a_detached_catalog_finishes(engine: Engine, tmp_path: Path) -> None:
    session = engine.session()
    do(session, f"ATTACH '{tmp_path / 'big'}' AS c (TYPE sqlite)")
    do(session, "CREATE SCHEMA c.s")
    do(session, "CREATE TABLE c.s.t AS SELECT value AS a FROM range(300000)")
    result = session.run("SELECT a FROM c.s.t")
    batches = iter(result)
    count = next(batches).num_rows
    do(engine.session(), "DETACH c")
    gc.collect()
    count += sum(batch.num_rows for batch in batches)
    assert count == 300_000


def test_a_change_on_a_detached_catalog_finishes(engine: Engine, tmp_path: Path) -> None:
    """The catalog is closed when the last statement that works with it is done, not before."""
    session = engine.session()
    do(session, f"ATTACH '{tmp_path / 'c'}' AS c (TYPE sqlite)")
    do(session, "CREATE SCHEMA c.s")
    do(session, "CREATE TABLE c.s.t (a BIGINT)")
    wait = in_thread(lambda: do(session, "INSERT INTO c.s.t SELECT value FROM range(2000000)"))
    query = _running(engine, "INSERT")
    do(engine.session(), "DETACH c")
    gc.collect()
    assert query
    assert wait() == 2_000_000
    do(session, f"ATTACH '{tmp_path / 'c'}' AS c (TYPE sqlite)")
    assert rows(session, "SELECT count(*) FROM c.s.t") == [(2_000_000,)]


def _running(engine: Engine, word: str) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if any(q.shown.startswith(word) and "c" in q.catalogs for q in engine.tracker.snapshot()):
            return True
        time.sleep(0.001)
    raise AssertionError(f"no {word} began")


# --- sessions ----------------------------------------------------------------------------------------------------


def test_what_a_session_alone_sees_goes_with_it(engine: Engine, probe: type[Probe]) -> None:
    session = engine.session()
    do(session, "ATTACH 'x' AS mine (TYPE probe, VISIBILITY session)")
    assert "mine" not in catalogs(engine.session())
    session.close()
    assert mounted(engine) == []
    assert set(probe.closed) == {"mine"}


def test_also_with_a_session_that_was_not_closed(engine: Engine, probe: type[Probe]) -> None:
    session = engine.session()
    do(session, "ATTACH 'x' AS mine (TYPE probe, VISIBILITY session)")
    del session
    gc.collect()
    assert mounted(engine) == []
    assert set(probe.closed) == {"mine"}


def test_a_session_that_is_closed_while_it_attaches_leaves_no_ghost(engine: Engine, probe: type[Probe]) -> None:
    gate = AuthMiddleware()
    probe.checking = staticmethod(gate)
    session = engine.session()
    wait = in_thread(lambda: do(session, "ATTACH 'x' AS mine (TYPE probe, VISIBILITY session)"))
    assert gate.reached.wait(60)
    session.close()
    gate.open()
    with pytest.raises(QueryCanceled):
        wait()
    assert mounted(engine) == []


# --- names -------------------------------------------------------------------------------------------------------


def test_of_two_who_attach_under_one_name_one_wins(engine: Engine, probe: type[Probe]) -> None:
    """Also when one means the session and the other the user."""
    session, gate = engine.session(), AuthMiddleware()
    probe.checking = staticmethod(gate)
    wait = in_thread(lambda: do(session, "ATTACH 'x' AS c (TYPE probe, VISIBILITY session)"))
    assert gate.reached.wait(60)
    do(session, "ATTACH 'y' AS c (TYPE probe, VISIBILITY user)")
    gate.open()
    with pytest.raises(CatalogExists):
        wait()
    do(session, "DETACH c")
    assert mounted(engine) == []


def test_if_not_exists_and_if_exists_do_not_fail_because_of_others(engine: Engine, probe: type[Probe]) -> None:
    gate = AuthMiddleware()
    probe.checking = staticmethod(gate)
    wait = in_thread(lambda: do(engine.session(), "ATTACH IF NOT EXISTS 'x' AS c (TYPE probe)"))
    assert gate.reached.wait(60)
    do(engine.session(), "ATTACH 'y' AS c (TYPE probe)")
    gate.open()
    wait()
    assert mounted(engine) == ["c"]


def test_replacing_asks_for_the_right_to_replace_what_is_there_then(engine: Engine, probe: type[Probe]) -> None:
    """Between the look and the change, somebody else took the name for all."""
    gate = AuthMiddleware()
    probe.checking = staticmethod(gate)
    bob, ann = engine.session(Identity("bob")), engine.session(Identity("ann"))
    wait = in_thread(lambda: do(bob, "ATTACH OR REPLACE 'x' AS c (TYPE probe)"))
    assert gate.reached.wait(60)
    do(ann, "ATTACH 'y' AS c (TYPE probe, VISIBILITY all)")
    gate.open()
    with pytest.raises(PermissionDenied, match="was attached by another user"):
        wait()
    assert [m.owner for m in engine.registry.everything() if m.name == "c"] == ["ann"]


# --- secrets -----------------------------------------------------------------------------------------------------


def secret(session: Session, value: str) -> None:
    do(session, f"CREATE OR REPLACE SECRET tok (TYPE bearer, TOKEN '{value}')")


@pytest.mark.parametrize("where", ["opening", "checking"])
def test_a_secret_that_is_replaced_while_a_catalog_is_attached_with_it(
    engine: Engine, probe: type[Probe], where: str
) -> None:
    """The mount is not left with the old value."""
    session, gate = engine.session(), AuthMiddleware()
    secret(session, "old")
    setattr(probe, where, staticmethod(gate))
    wait = in_thread(lambda: do(session, "ATTACH 'x' AS c (TYPE probe, SECRET tok)"))
    assert gate.reached.wait(60)
    secret(session, "new")
    gate.open()
    wait()
    rows(session, "SHOW TABLES IN c")
    assert probe.tokens[-1] == "new"


def test_a_secret_that_is_dropped_while_a_catalog_is_attached_with_it(engine: Engine, probe: type[Probe]) -> None:
    session, gate = engine.session(), AuthMiddleware()
    secret(session, "old")
    probe.checking = staticmethod(gate)
    wait = in_thread(lambda: do(session, "ATTACH 'x' AS c (TYPE probe, SECRET tok)"))
    assert gate.reached.wait(60)
    do(session, "DROP SECRET tok")
    gate.open()
    with pytest.raises(SecretNotFound):
        wait()
    assert mounted(engine) == []


def test_a_catalog_that_is_slow_to_open_stops_nobody_who_does_not_need_it(engine: Engine, probe: type[Probe]) -> None:
    session, gate = engine.session(), AuthMiddleware()
    secret(session, "old")
    do(session, "ATTACH 'x' AS slow (TYPE probe, SECRET tok, VERIFY false)")
    probe.opening = staticmethod(gate)
    wait = in_thread(lambda: rows(engine.session(), "SHOW TABLES IN slow"))
    assert gate.reached.wait(60)
    secret(session, "new")
    assert catalogs(session) == ["lake", "slow"]
    assert rows(session, "SELECT 1") == [(1,)]
    gate.open()
    wait()
    assert set(probe.tokens) == {"new"}  # what it had read was wiped, so it was opened once more


def test_secrets_are_listed_while_others_make_and_drop_them(engine: Engine) -> None:
    stop = threading.Event()

    def churn(number: int) -> None:
        session = engine.session(Identity("ann"))
        while not stop.is_set():
            for n in range(20):
                do(session, f"CREATE OR REPLACE SECRET s{number}_{n} (TYPE bearer, TOKEN 't')")
            for n in range(20):
                do(session, f"DROP SECRET s{number}_{n}")

    waits = [in_thread(lambda n=n: churn(n)) for n in range(3)]  # type: ignore[misc]
    reader = engine.session(Identity("ann"))
    try:
        for _ in range(150):
            names = [name for name, *_ in rows(reader, "SHOW SECRETS")]
            assert len(names) == len(set(names)) <= 60
            with pytest.raises(SecretNotFound):
                do(reader, "ATTACH 'x' AS c (TYPE sqlite, SECRET nothing)")
    finally:
        stop.set()
        for wait in waits:
            wait()
