"""Who may begin on a server: turns go round the users, what is light never waits, and waiting has an end."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pinakes.config.serving import StatementLimits
from pinakes.core.errors import NotFoundError, QueryCanceled, QueryTimeout, ServerBusy
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.execution.admission import Admission, Crowd
from pinakes.engine.execution.query_info import State
from pinakes.engine.execution.queue_bypass import is_light
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_thread, info_of, rows, wait_until

HEAVY = "SELECT value FROM range(100000000)"


@contextmanager
def limited(**limits: float) -> Iterator[Engine]:
    """An engine as a server has it."""
    with an_engine() as engine:
        engine.admission = Admission(StatementLimits(**limits))  # type: ignore[arg-type]
        yield engine


def crowd(engine: Engine) -> Crowd:
    assert engine.admission is not None
    return engine.admission.crowd()


def queued(engine: Engine, count: int) -> None:
    wait_until(lambda: crowd(engine).queued == count, f"{count} wait")


def of(engine: Engine, user: str) -> Session:
    return engine.session(Identity(user))


def test_one_more_waits_until_another_is_read() -> None:
    with limited(running=1) as engine:
        first = engine.session().run("SELECT value FROM range(10)")
        second = in_thread(lambda: rows(engine.session(), "SELECT count(*) FROM range(7)"))
        queued(engine, 1)
        info = info_of(engine, "range(7)")
        assert (info.state, info.started) == (State.QUEUED, None)
        first.read_all()
        assert second() == [(7,)]
        assert crowd(engine) == (0, 0)


def test_waiting_is_reported_by_the_system_tables() -> None:
    with limited(running=1) as engine:
        held = engine.session().run(HEAVY)
        waiting = in_thread(lambda: rows(engine.session(), "SELECT count(*) FROM range(3)"))
        queued(engine, 1)
        told = rows(
            engine.session(),
            "SELECT state, started IS NULL FROM system.runtime.queries WHERE query LIKE 'SELECT count(*) FROM range(%'",
        )
        assert told == [("QUEUED", True)]
        held.close()
        assert waiting() == [(3,)]
        assert info_of(engine, "range(3)").started is not None


def test_turns_go_round_the_users() -> None:
    order: list[str] = []
    lock = threading.Lock()

    def ask(engine: Engine, user: str, number: int) -> None:
        result = of(engine, user).run(f"SELECT value FROM range({number})")
        with lock:
            order.append(user)
        result.read_all()

    with limited(running=1, running_per_user=1) as engine:
        held = engine.session().run(HEAVY)
        waiting = []
        for user in ("ann", "ann", "ann", "bob"):
            before = crowd(engine).queued
            waiting.append(in_thread(lambda user=user, n=before + 1: ask(engine, user, n)))  # type: ignore[misc]
            queued(engine, before + 1)
        held.close()
        for joined in waiting:
            joined()
    assert order == ["ann", "bob", "ann", "ann"]


def test_one_user_can_not_take_every_place() -> None:
    with limited(running=3, running_per_user=2) as engine:
        held = [of(engine, "ann").run(HEAVY) for _ in range(2)]
        third = in_thread(lambda: rows(of(engine, "ann"), "SELECT count(*) FROM range(4)"))
        queued(engine, 1)
        assert rows(of(engine, "bob"), "SELECT count(*) FROM range(5)") == [(5,)]
        held.pop().close()
        assert third() == [(4,)]
        held.pop().close()


@pytest.mark.parametrize("limits", [{"queued": 1}, {"queued_per_user": 1}])
def test_a_full_queue_refuses(limits: dict[str, int]) -> None:
    with limited(running=1, **limits) as engine:
        held = engine.session().run(HEAVY)
        waiting = in_thread(lambda: rows(engine.session(), "SELECT count(*) FROM range(2)"))
        queued(engine, 1)
        with pytest.raises(ServerBusy, match="Nothing was done"):
            engine.session().run(HEAVY)
        assert info_of(engine, HEAVY).error_code == "SERVER_BUSY"
        held.close()
        assert waiting() == [(2,)]


def test_waiting_has_an_end() -> None:
    with limited(running=1, queue_time=0.01) as engine:
        held = engine.session().run(HEAVY)
        with pytest.raises(ServerBusy, match=r"waited 0\.01 s for its turn"):
            engine.session().run(HEAVY)
        assert crowd(engine) == (1, 0)
        held.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SHOW TABLES",
        "SELECT count(*) FROM system.runtime.queries",
        "SELECT count(*) FROM information_schema.tables",
        "EXPLAIN SELECT * FROM range(5)",
        "CREATE TABLE light (x INT)",
        "BEGIN",
        "SET batch_size = 100",
    ],
)
def test_what_is_light_does_not_wait(sql: str) -> None:
    with limited(running=1) as engine:
        held = engine.session().run(HEAVY)
        do(engine.session(), sql)
        held.close()


@pytest.mark.parametrize(
    ("sql", "light"),
    [
        ("SELECT * FROM t", False),
        ("SELECT * FROM system.runtime.queries, range(1000000)", False),
        ("SELECT * FROM system.runtime.queries q JOIN t ON true", False),
        ("SELECT count(*) FROM system.jdbc.columns a, system.jdbc.columns b, system.jdbc.columns c", False),
        ("WITH c AS (SELECT * FROM system.jdbc.columns) SELECT count(*) FROM c x, c y, c z", False),
        ("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r", False),
        ("SELECT unnest([1, 2])", False),
        ("EXPLAIN ANALYZE SELECT * FROM t", False),
        ("INSERT INTO t VALUES (1)", False),
        ("CALL system.expire_snapshots('t')", False),
        ("CALL system.runtime.kill_query('x')", True),
        ("KILL 'x'", True),
        ("SELECT current_user, 1 + 1", True),
        ("EXECUTE heavy", False),
        ("EXECUTE nothing", True),
    ],
)
def test_what_is_light(sql: str, light: bool) -> None:
    with an_engine() as engine:
        session = engine.session()
        do(session, "CREATE TABLE t (x INT)")
        do(session, "PREPARE heavy AS SELECT * FROM t")
        assert is_light(engine.caches.statements.classify(sql), session) is light


def test_one_that_waits_can_be_stopped() -> None:
    with limited(running=1) as engine:
        held, session = engine.session().run(HEAVY), engine.session()
        waiting = in_thread(lambda: session.run("SELECT value FROM range(9)"))
        queued(engine, 1)
        do(engine.session(), f"CALL system.runtime.kill_query('{info_of(engine, 'range(9)').query_id}', 'not now')")
        with pytest.raises(QueryCanceled, match=r"killed by .*: not now"):
            waiting()
        assert crowd(engine) == (1, 0)
        held.close()
        assert crowd(engine) == (0, 0)


def test_the_time_of_a_statement_ends_also_while_it_waits() -> None:
    with limited(running=1, timeout=0.05) as engine:
        admission, engine.admission = engine.admission, None
        held = engine.session().run(HEAVY)
        engine.admission = admission
        assert admission is not None
        admission._running["somebody"] = 1
        with pytest.raises(QueryTimeout, match=r"longer than the timeout of this server of 0\.05 s"):
            engine.session().run(HEAVY)
        held.close()


@pytest.mark.parametrize(("own", "said"), [(0.02, "the statement_timeout of 0.02 s"), (60, "this server of 0.05 s")])
def test_the_shorter_time_counts(own: float, said: str) -> None:
    with limited(timeout=0.05) as engine:
        session = engine.session()
        do(session, f"SET statement_timeout = '{own}'")
        with pytest.raises(QueryTimeout, match=said):
            rows(session, "SELECT count(*) FROM range(100000000000)")


def test_places_come_back_however_a_statement_ends() -> None:
    with limited(running=1) as engine:
        session = engine.session()
        with pytest.raises(NotFoundError):
            session.run("SELECT * FROM nowhere")
        rows(session, "SELECT count(*) FROM range(1)")
        session.run(HEAVY).close()
        forgotten = session.run(HEAVY)
        del forgotten
        gc.collect()
        do(session, "CREATE TABLE made AS SELECT 1 AS x")
        assert crowd(engine) == (0, 0)


def test_many_at_once_lose_no_place() -> None:
    with limited(running=3, running_per_user=2) as engine:
        asked = [
            in_thread(lambda n=n: rows(of(engine, f"user{n % 4}"), f"SELECT count(*) FROM range({n})"))  # type: ignore[misc]
            for n in range(40)
        ]
        assert [joined() for joined in asked] == [[(n,)] for n in range(40)]
        assert crowd(engine) == (0, 0)


def test_others_queries_are_not_there_to_be_killed() -> None:
    with limited() as engine:
        held = of(engine, "ann").run(HEAVY)
        query_id = info_of(engine, HEAVY).query_id
        with pytest.raises(NotFoundError, match="no query"):
            do(of(engine, "bob"), f"CALL system.runtime.kill_query('{query_id}')")
        do(engine.session(), f"KILL '{query_id}'")  # an administrator
        with pytest.raises(QueryCanceled, match="killed by"):
            held.read_all()
