"""Results: they stream and are read once; errors that only come while one is read are typed, and the tracker knows."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pinakes.core.errors import (
    ColumnNotFound,
    ConstraintViolation,
    DataCorrupt,
    ExecutionError,
    FunctionNotFound,
    InternalError,
    InvalidArgument,
    OutOfMemory,
    ParseError,
    PinakesError,
    QueryCanceled,
    TableNotFound,
    TypeMismatch,
)
from pinakes.engine.datafusion.error_translation import translate, translated
from pinakes.engine.engine import Engine
from pinakes.engine.execution.tracker import State
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, info_of, rows

LATE = "select 10 / (value - 500000) as x from range(1000000)"
"""Divides by zero, but only after many rows."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine(target_partitions=1) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


# --- streaming ---------------------------------------------------------------------------------------------------


def test_the_first_batch_comes_before_the_query_is_done(engine: Engine, session: Session) -> None:
    """The whole result would be 800 GB."""
    result = session.run("select value, value * 2 as twice from range(100000000000)")
    batches = iter(result)
    assert next(batches).column(1)[:3].to_pylist() == [0, 2, 4]
    info = info_of(engine, "twice")
    assert info.state == State.RUNNING
    assert 0 < info.rows < 1_000_000
    next(batches)
    assert info_of(engine, "twice").rows > info.rows
    result.close()
    assert info_of(engine, "twice").state == State.FINISHED


def test_a_table_streams(engine: Engine, session: Session) -> None:
    do(session, "create table t as select value as a from range(200000)")
    result = session.run("select a from t")
    sizes = [batch.num_rows for batch in result]
    assert sum(sizes) == 200_000
    assert len(sizes) > 1
    info = info_of(engine, "select a from t")
    assert (info.state, info.rows, info.kind, info.catalogs) == (State.FINISHED, 200_000, "Query", ("lake",))
    assert info.bytes >= 200_000 * 8


def test_a_query_runs_only_when_it_is_read(engine: Engine, session: Session) -> None:
    result = session.run(LATE)
    assert result.schema.names == ["x"]
    assert info_of(engine, LATE).rows == 0
    result.close()
    assert info_of(engine, LATE).state == State.FINISHED


def test_reader(engine: Engine, session: Session) -> None:
    reader = session.run("select value as a from range(100000)").reader()
    assert reader.schema == pa.schema([pa.field("a", pa.int64(), nullable=reader.schema.field("a").nullable)])
    assert reader.read_all().num_rows == 100_000
    assert info_of(engine, "range(100000)").state == State.FINISHED


def test_a_reader_passes_errors_on(engine: Engine, session: Session) -> None:
    with pytest.raises(ExecutionError, match="division by zero"):
        session.run(LATE).reader().read_all()
    assert info_of(engine, LATE).state == State.FAILED


def test_every_batch_has_the_schema_that_was_reported(session: Session) -> None:
    result = session.run(
        "select 'a' as s, 1 as i, null as n, [1, 2] as l, now() as t union all select 'b', 2, 'x', [3], now()"
    )
    for batch in result:
        assert batch.schema == result.schema


def test_no_rows_still_have_a_schema(session: Session) -> None:
    table = session.run("select 1 as a, 'x' as b where false").read_all()
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])


# --- once --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sql", ["select 1", "show catalogs", "create schema s", "explain select 1"])
def test_a_result_is_read_once(session: Session, sql: str) -> None:
    result = session.run(sql)
    result.read_all()
    for again in (result.read_all, result.reader, lambda: list(result)):
        with pytest.raises(InvalidArgument, match="read or closed already"):
            again()
    result.close()
    result.close()


def test_a_closed_result_is_not_read(session: Session) -> None:
    result = session.run("select 1")
    result.close()
    with pytest.raises(InvalidArgument, match="read or closed already"):
        result.read_all()


def test_a_change_is_done_when_run_returns(engine: Engine, session: Session) -> None:
    do(session, "create table t (a int)")
    result = session.run("insert into t values (1), (2)")
    assert (result.kind, result.count) == ("INSERT", 2)
    assert rows(engine.session(), "select count(*) from t") == [(2,)]
    assert result.read_all().num_rows == 0


def test_rows_of_nothing() -> None:
    schema = pa.schema([("a", pa.int64())])
    assert Result.rows(schema, []).read_all().num_rows == 0
    assert Result.done("DONE", 3).count == 3


# --- errors ------------------------------------------------------------------------------------------------------


def test_an_error_while_reading_marks_the_query_failed(engine: Engine, session: Session) -> None:
    batches = iter(session.run(LATE))
    read = next(batches).num_rows
    assert info_of(engine, LATE).state == State.RUNNING
    with pytest.raises(ExecutionError, match="division by zero"):
        list(batches)
    info = info_of(engine, LATE)
    assert (info.state, info.error_code, info.error_message) == (State.FAILED, "EXECUTION_ERROR", "division by zero")
    assert 0 < read <= info.rows < 1_000_000
    assert rows(session, "select 1") == [(1,)]


def test_an_error_in_one_part_ends_the_others(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whoever keeps the error does not keep the query at work."""
    from tests.engine.test_cancel import rests

    with an_engine(target_partitions=4) as engine:
        session = engine.session()
        sql = "select sum(10 / (value - 5000000)) from range(100000000000)"
        with pytest.raises(ExecutionError, match="division by zero") as caught:
            session.run(sql).read_all()
        rests()
        assert info_of(engine, sql).error_code == caught.value.code


def test_an_error_before_the_rows_marks_it_too(engine: Engine, session: Session) -> None:
    for sql, kind in (
        ("select nope from range(3)", ColumnNotFound),
        ("select * from nowhere", TableNotFound),
        ("select frobnicate(1)", FunctionNotFound),
        ("selec 1", ParseError),
        ("select sqrt('x', 2)", PinakesError),
    ):
        with pytest.raises(kind) as caught:
            session.run(sql)
        info = engine.tracker.snapshot()[-1]
        assert (info.state, info.error_code) == (State.FAILED, caught.value.code)
        assert info.error_message == caught.value.message
        assert info.ended is not None


def test_a_change_that_fails_in_the_middle(engine: Engine, session: Session) -> None:
    do(session, "create table t (a bigint not null)")
    do(session, "insert into t values (1)")
    with pytest.raises(ExecutionError, match="division by zero"):
        session.run("insert into t select 10 / (value - 500000) from range(1000000)")
    with pytest.raises(ConstraintViolation):
        session.run("insert into t select nullif(value, 500000) from range(1000000)")
    assert info_of(engine, "nullif").error_code == "CONSTRAINT_VIOLATION"
    assert rows(session, "select * from t") == [(1,)]


def test_a_file_that_is_damaged(engine: Engine, session: Session) -> None:
    do(session, "create table t as select value as a from range(10)")
    table = engine.session().catalogs.get("lake").catalog.load_table(("default",), "t")  # type: ignore[attr-defined]
    for task in table.handle.scan().plan_files():
        with open(task.file.file_path.removeprefix("file://"), "wb") as file:  # noqa: PTH123
            file.write(b"no parquet")
    with pytest.raises(DataCorrupt, match="t"):
        rows(session, "select * from t")
    assert info_of(engine, "select * from t").error_code == "DATA_CORRUPT"


def test_our_own_error_comes_back_through_datafusion_with_its_type(engine: Engine, session: Session) -> None:
    """Raised in a callback while DataFusion runs: it arrives as what it was."""
    do(session, "create table t as select value as a from range(10)")
    result = session.run("select count(*) from t where a > 1")
    session.cancel("for the test")
    with pytest.raises(QueryCanceled, match="for the test"):
        result.read_all()


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("DataFusion error: Schema error: No field named x. Valid fields are t.a."), ColumnNotFound, "x"),
        (Exception("DataFusion error: Execution error: Divide by zero error"), ExecutionError, "division by zero"),
        (pa.ArrowInvalid("Cast error: Cannot cast string 'x' to value of Int64 type"), ExecutionError, "'x'"),
        (Exception("DataFusion error: Resources exhausted: no memory"), OutOfMemory, "no memory"),
        (ValueError("Error during planning: Cannot coerce arithmetic expression"), TypeMismatch, "arithmetic"),
        (OSError("No space left on device (os error 28)"), OutOfMemory, "disk is full"),
        (MemoryError(), OutOfMemory, "no memory left"),
        (KeyError("surprise"), InternalError, "surprise"),
        (Exception(""), ExecutionError, "Exception"),
    ],
)
def test_foreign_errors_by_kind(error: Exception, kind: type[PinakesError], text: str) -> None:
    typed = translate(error)
    assert type(typed) is kind
    assert text in typed.message
    with pytest.raises(kind) as caught, translated():
        raise error
    assert caught.value.__cause__ is error


def test_ctrl_c_is_not_translated() -> None:
    with pytest.raises(KeyboardInterrupt), translated():
        raise KeyboardInterrupt


def test_reading_a_result_that_another_thread_closes_is_an_error() -> None:
    """Closing may take a while; a reader that comes in the middle of it must not take that for an error of the data."""
    begun, may_end = threading.Event(), threading.Event()
    schema = pa.schema([("x", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            while True:
                yield pa.record_batch([[1]], schema=schema)
        finally:
            begun.set()
            may_end.wait(60)

    result = Result(schema, batches())
    reading = iter(result)
    next(reading)
    closing = threading.Thread(target=result.close)
    closing.start()
    assert begun.wait(60)
    with pytest.raises(QueryCanceled, match="its result was closed"):
        next(reading)
    may_end.set()
    closing.join(60)
