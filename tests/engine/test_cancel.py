"""Stopping what runs: from another thread, by its time-out, by KILL, by closing or forgetting a result, by Ctrl-C."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import InvalidArgument, NotFoundError, QueryCanceled, QueryTimeout
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.execution.tracker import State
from tests.engine.support import (
    LONG,
    PATIENCE,
    an_engine,
    child,
    do,
    in_thread,
    info_of,
    parquet_files,
    rows,
    wait_until,
)

ENDLESS = "select sum(value % 7) from range(100000000000)"
"""An aggregate that would run for an hour."""
ENDLESS_ROWS = "select value from range(100000000000)"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


def running(engine: Engine, text: str) -> str:
    """The id of a statement that has begun to execute, once it has."""

    def find() -> str:
        infos = [q for q in engine.tracker.snapshot() if q.shown.startswith(text) and q.state == State.RUNNING]
        return infos[-1].query_id if infos else ""

    found: str = wait_until(find, f"{text} runs")
    return found


def works() -> None:
    """The query is under way in native code: the CPU time grows."""
    before = time.process_time()
    wait_until(lambda: time.process_time() - before > 0.1, "the query works")


def rests() -> None:
    """The process is idle, soon: its CPU time hardly grows in one of some windows. Only looked at in the long run,
    which has the process to itself: one query that goes on would fail every later test."""
    if not LONG:
        return

    def idle() -> bool:
        before = time.process_time()
        time.sleep(0.3)
        return time.process_time() - before < 0.15

    wait_until(idle, "nothing runs any more")


def test_cancel_from_another_thread(engine: Engine) -> None:
    session = engine.session()
    reading = in_thread(session.run(ENDLESS).read_all)
    works()
    session.cancel()
    with pytest.raises(QueryCanceled, match="canceled by the user") as caught:
        reading()
    info = info_of(engine, ENDLESS)
    assert (info.state, info.error_code) == (State.CANCELED, "QUERY_CANCELED")
    rests()
    assert rows(session, "select 1") == [(1,)]
    assert caught.value.code == "QUERY_CANCELED"  # whoever keeps the error does not keep the query at work


def test_cancel_while_a_subquery_runs(engine: Engine) -> None:
    """DataFusion runs on while anyone holds the plan, and the frames of an error that is kept would."""
    session = engine.session()
    reading = in_thread(lambda: session.run(f"select 1 where ({ENDLESS}) > 0").read_all())
    works()
    session.cancel()
    with pytest.raises(QueryCanceled) as caught:
        reading()
    rests()
    assert caught.value.code == "QUERY_CANCELED"


def test_cancel_leaves_other_sessions_alone(engine: Engine) -> None:
    one, other = engine.session(), engine.session()
    result = other.run(ENDLESS_ROWS)
    batches = iter(result)
    next(batches)
    reading = in_thread(one.run(ENDLESS).read_all)
    running(engine, ENDLESS)
    one.cancel()
    with pytest.raises(QueryCanceled):
        reading()
    assert next(batches).num_rows > 0
    result.close()


def test_cancel_before_the_first_row_is_requested(engine: Engine) -> None:
    session = engine.session()
    result = session.run(ENDLESS)
    session.cancel()
    with pytest.raises(QueryCanceled):
        result.read_all()
    assert info_of(engine, ENDLESS).state == State.CANCELED


def test_statement_timeout(engine: Engine) -> None:
    session = engine.session()
    do(session, "set statement_timeout = '200ms'")
    with pytest.raises(QueryTimeout, match=r"statement_timeout of 0\.2 s"):
        session.run(ENDLESS).read_all()
    info = info_of(engine, ENDLESS)
    assert (info.state, info.error_code) == (State.FAILED, "QUERY_TIMEOUT")
    rests()
    do(session, "reset statement_timeout")
    assert rows(session, "select 2") == [(2,)]


def test_statement_timeout_stops_a_change(engine: Engine, tmp_path: Path) -> None:
    session = engine.session()
    do(session, "create table t as select 1 as a")
    before = parquet_files(tmp_path)
    do(session, "set statement_timeout = '300ms'")
    with pytest.raises(QueryTimeout):
        session.run(f"insert into t {ENDLESS_ROWS}")
    do(session, "set statement_timeout = 0")
    assert rows(session, "select * from t") == [(1,)]
    assert parquet_files(tmp_path) == before


@pytest.mark.parametrize(
    "change",
    [
        "insert into t select value, 'x' from range(100000000000)",
        "update t set b = 'y' where (select sum(value % 7) from range(100000000000)) > 0",
        "delete from t where a in (select value from range(100000000000))",
        "merge into t using (select value as a from range(100000000000)) as s on t.a = s.a "
        "when not matched then insert (a) values (s.a)",
        "create table u as select value from range(100000000000)",
        "create or replace table t as select value from range(100000000000)",
        "insert overwrite t select value, 'x' from range(100000000000)",
    ],
    ids=lambda sql: "_".join(sql.split()[:3]),
)
def test_a_canceled_change_leaves_the_table_as_it_was(engine: Engine, tmp_path: Path, change: str) -> None:
    session = engine.session()
    do(session, "create table t (a bigint, b varchar)")
    do(session, "insert into t values (1, 'one'), (2, 'two')")
    before = parquet_files(tmp_path)
    changing = in_thread(lambda: session.run(change))
    running(engine, change)
    session.cancel()
    with pytest.raises(QueryCanceled):
        changing()
    assert rows(session, "select * from t order by a") == [(1, "one"), (2, "two")]
    assert rows(session, "show tables") == [("t",)]
    assert parquet_files(tmp_path) == before, "files of the canceled change are left"
    rests()


@pytest.mark.parametrize("how", ["", "partitioned by (b)"])
@pytest.mark.parametrize("kind", ["into", "overwrite"])
def test_written_files_are_removed(engine: Engine, tmp_path: Path, kind: str, how: str) -> None:
    """Canceled when files stand on the disk already, whole ones and some that are being written: they are small."""
    session = engine.session()
    do(session, f"create table t (a bigint, b bigint) {how} with ('write.target-file-size-bytes' = '100000')")
    do(session, "insert into t values (1, 1)")
    before = parquet_files(tmp_path)
    changing = in_thread(lambda: session.run(f"insert {kind} t select value, value % 5 from range(100000000000)"))
    wait_until(lambda: len(parquet_files(tmp_path)) > 8, "files are written")
    session.cancel()
    with pytest.raises(QueryCanceled):
        changing()
    assert parquet_files(tmp_path) == before
    assert rows(session, "select * from t") == [(1, 1)]


# --- KILL --------------------------------------------------------------------------------------------------------


def test_kill_from_another_session(engine: Engine) -> None:
    reading = in_thread(engine.session().run(ENDLESS).read_all)
    killer = engine.session()
    do(killer, f"kill query '{running(engine, ENDLESS)}'")
    with pytest.raises(QueryCanceled, match="killed by"):
        reading()
    assert info_of(engine, ENDLESS).state == State.CANCELED


def test_only_ones_own_query_or_an_administrators(engine: Engine) -> None:
    owner = engine.session(Identity("ada"))
    reading = in_thread(owner.run(ENDLESS).read_all)
    query = running(engine, ENDLESS)
    with pytest.raises(NotFoundError, match="no query"):
        engine.session(Identity("eve")).run(f"kill '{query}'")
    assert engine.tracker.running(query) is not None
    do(engine.session(Identity("ada")), f"kill '{query}'")
    with pytest.raises(QueryCanceled, match="killed by ada"):
        reading()
    with pytest.raises(NotFoundError):
        owner.run(f"kill '{query}'")


# --- results that nobody wants any more --------------------------------------------------------------------------


def test_a_closed_result_ends_its_query(engine: Engine) -> None:
    result = engine.session().run(ENDLESS_ROWS)
    batches = iter(result)  # kept: a result whose iterator is gone is closed
    next(batches)
    result.close()
    assert info_of(engine, ENDLESS_ROWS).ended is not None
    rests()


def test_a_result_closed_by_another_thread(engine: Engine) -> None:
    result = engine.session().run(ENDLESS)
    reading = in_thread(result.read_all)
    running(engine, ENDLESS)
    result.close()
    with pytest.raises(QueryCanceled, match="its result was closed"):
        reading()
    assert info_of(engine, ENDLESS).state == State.CANCELED
    rests()


@pytest.mark.parametrize("read", [0, 1])
def test_a_forgotten_result_ends_its_query(engine: Engine, read: int) -> None:
    result = engine.session().run(ENDLESS_ROWS)
    batches = iter(result)
    for _ in range(read):
        next(batches)
    assert engine.tracker.running(info_of(engine, ENDLESS_ROWS).query_id) is not None
    del result, batches
    gc.collect()
    assert info_of(engine, ENDLESS_ROWS).ended is not None
    rests()


def test_a_forgotten_result_in_a_cycle(engine: Engine) -> None:
    """Only the garbage collector finds it, at a moment of its own choice."""
    result = engine.session().run(ENDLESS_ROWS)
    result.itself = result  # type: ignore[attr-defined]
    del result
    gc.collect()
    assert info_of(engine, ENDLESS_ROWS).ended is not None


def test_forgotten_results_while_others_begin(engine: Engine) -> None:
    """The garbage collector runs whenever it likes, also within the tracker: nothing deadlocks, none stays behind."""
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        session = engine.session()
        for _ in range(60):
            result = session.run("select 1")
            result.itself = result  # type: ignore[attr-defined]
            del result
            engine.tracker.snapshot()
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert [q for q in engine.tracker.snapshot() if q.ended is None] == []


def test_a_dropped_reader_ends_its_query(engine: Engine) -> None:
    reader = engine.session().run(ENDLESS_ROWS).reader()
    reader.read_next_batch()
    del reader
    gc.collect()
    assert info_of(engine, ENDLESS_ROWS).ended is not None
    rests()


def test_a_closed_session_and_engine_stop_what_runs(tmp_path: Path) -> None:
    with an_engine(tmp_path / "other") as engine:
        first, second = engine.session(), engine.session()
        closed = in_thread(first.run(ENDLESS).read_all)
        running(engine, ENDLESS)
        first.close()
        with pytest.raises(QueryCanceled, match="session was closed"):
            closed()
        left = in_thread(second.run(ENDLESS).read_all)
        running(engine, ENDLESS)
    with pytest.raises(QueryCanceled):
        left()
    rests()


def test_a_canceled_result_is_not_read_again(engine: Engine) -> None:
    session = engine.session()
    result = session.run(ENDLESS)
    session.cancel()
    with pytest.raises(QueryCanceled):
        result.read_all()
    with pytest.raises(InvalidArgument, match="read or closed already"):
        result.read_all()


# --- Ctrl-C ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql", [ENDLESS, ENDLESS_ROWS, f"create table t as {ENDLESS_ROWS}"], ids=["sum", "rows", "ctas"]
)
def test_ctrl_c(tmp_path: Path, sql: str) -> None:
    """The command line ends with 130, like any tool, and leaves nothing half done."""
    (tmp_path / "pinakes.toml").write_text("[log]\nlevel = 'debug'\n")
    process = child(
        *("-m", "pinakes", "--config", str(tmp_path / "pinakes.toml"), "--data", str(tmp_path / "lake")),
        *("--format", "csv", "-c", "select 'be' || 'gun' as b", "-c", sql),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "b\n"
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in out
    assert "KeyboardInterrupt" not in err
    assert parquet_files(tmp_path / "lake") == set()
