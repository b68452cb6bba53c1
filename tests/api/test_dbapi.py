"""PEP 249, point by point."""

from __future__ import annotations

import datetime as dt
import inspect
import logging
import pickle
import time
from typing import Any

import pyarrow as pa
import pytest

import pinakes
from pinakes.api.errors import KINDS, joined
from pinakes.api.executemany import all_or_none
from pinakes.core import errors as core
from pinakes.engine.iceberg.write import commit as commit_module

# --- the module --------------------------------------------------------------------------------------------------


def test_globals() -> None:
    assert (pinakes.apilevel, pinakes.threadsafety, pinakes.paramstyle) == ("2.0", 2, "qmark")
    assert callable(pinakes.connect)


def test_everything_that_is_exported_is_there() -> None:
    assert [name for name in pinakes.__all__ if getattr(pinakes, name, None) is None] == []
    assert set(pinakes.__all__) <= set(dir(pinakes))
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        pinakes.nope  # noqa: B018 - the access is what is tested


TREE = {
    "Warning": Exception,
    "Error": Exception,
    "InterfaceError": pinakes.Error,
    "DatabaseError": pinakes.Error,
    "DataError": pinakes.DatabaseError,
    "OperationalError": pinakes.DatabaseError,
    "IntegrityError": pinakes.DatabaseError,
    "InternalError": pinakes.DatabaseError,
    "ProgrammingError": pinakes.DatabaseError,
    "NotSupportedError": pinakes.DatabaseError,
}


@pytest.mark.parametrize("name", TREE)
def test_exceptions(name: str, con: pinakes.Connection) -> None:
    kind = getattr(pinakes, name)
    assert issubclass(kind, TREE[name])
    assert getattr(con, name) is kind  # optional: exceptions as attributes of a connection
    assert issubclass(kind, pinakes.Error) == (name != "Warning")


def test_constructors_make_what_can_be_bound(con: pinakes.Connection) -> None:
    day, clock, moment = pinakes.Date(2026, 3, 4), pinakes.Time(5, 6, 7), pinakes.Timestamp(2026, 3, 4, 5, 6, 7)
    row = (day, clock, moment, pinakes.Binary(b"\x00\xff"))
    assert con.execute("SELECT ?, ?, ?, ?", row).fetchone() == row
    ticks = time.mktime((2026, 3, 4, 5, 6, 7, 0, 0, -1))
    assert pinakes.DateFromTicks(ticks) == day
    assert pinakes.TimeFromTicks(ticks) == clock
    assert pinakes.TimestampFromTicks(ticks).astimezone().replace(tzinfo=None) == moment


def test_type_objects_tell_the_columns_apart(con: pinakes.Connection) -> None:
    kinds = (pinakes.STRING, pinakes.BINARY, pinakes.NUMBER, pinakes.DATETIME, pinakes.ROWID)
    cursor = con.execute(
        "SELECT 'a' AS s, X'00' AS b, 1 AS i, 1.5e0 AS f, DATE '2026-01-01' AS d, now() AS t, [1] AS l"
    )
    codes = [column[1] for column in cursor.description or []]
    assert [[kind for kind in kinds if kind == code] for code in codes] == [
        [pinakes.STRING],
        [pinakes.BINARY],
        [pinakes.NUMBER],
        [pinakes.NUMBER],
        [pinakes.DATETIME],
        [pinakes.DATETIME],
        [],
    ]
    assert pa.dictionary(pa.int8(), pa.string()) == pinakes.STRING
    assert pinakes.STRING != pinakes.NUMBER


# --- errors ------------------------------------------------------------------------------------------------------

FAILURES = {
    "SELEC 1": (pinakes.ProgrammingError, "PARSE_ERROR"),
    "SELECT * FROM nowhere": (pinakes.ProgrammingError, "TABLE_NOT_FOUND"),
    "SELECT x": (pinakes.ProgrammingError, "COLUMN_NOT_FOUND"),
    "CREATE SCHEMA default": (pinakes.ProgrammingError, "NAMESPACE_EXISTS"),
    "SELECT CAST('x' AS INT)": (pinakes.DataError, "EXECUTION_ERROR"),
    "INSERT INTO strict VALUES (NULL)": (pinakes.IntegrityError, "CONSTRAINT_VIOLATION"),
    "GRANT SELECT ON strict TO x": (pinakes.NotSupportedError, "NOT_SUPPORTED"),
    "DROP SCHEMA lake": (pinakes.ProgrammingError, "INVALID_ARGUMENT"),
}


@pytest.mark.parametrize("sql", FAILURES)
def test_an_error_is_of_both_trees(sql: str, con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE strict (a INT NOT NULL)")
    kind, code = FAILURES[sql]
    with pytest.raises(kind) as caught:
        con.execute(sql).fetchall()
    error = caught.value
    assert isinstance(error, core.PinakesError)
    assert error.code == code
    assert type(error).__name__ in vars(core)


def test_an_error_while_rows_are_read_is_of_both_trees(con: pinakes.Connection) -> None:
    sql = "SELECT 1 / (value - 50000) FROM range(100000)"
    for read in (con.execute(sql).fetchall, con.sql(sql).arrow, con.sql(sql).reader().read_all, con.sql(sql).df):
        with pytest.raises(pinakes.DataError, match="division by zero"):
            read()


def test_every_kind_of_error_has_its_place() -> None:
    kinds = [k for k in vars(core).values() if isinstance(k, type) and issubclass(k, core.PinakesError)]
    for kind in kinds:
        both = joined(kind)
        assert issubclass(both, kind)
        assert issubclass(both, pinakes.DatabaseError)
        assert joined(kind) is both
    roots = [k for k in kinds if k.__mro__[1] is core.PinakesError]
    assert [k.__name__ for k in roots if k not in KINDS] == []


def test_an_error_survives_pickle(con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.Error) as caught:
        con.execute("SELEC 1")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert (str(again), again.code) == (str(caught.value), "PARSE_ERROR")


# --- the connection ----------------------------------------------------------------------------------------------


def test_commit_does_nothing_and_rollback_says_that_it_cannot(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a INT)")
    con.execute("INSERT INTO t VALUES (1)")
    con.commit()
    with pytest.raises(pinakes.NotSupportedError, match="every statement is its own commit"):
        con.rollback()
    assert con.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_autocommit_is_not_switched_off_in_silence(con: pinakes.Connection) -> None:
    assert con.autocommit
    con.autocommit = True
    with pytest.raises(pinakes.NotSupportedError, match="BEGIN"):
        con.autocommit = False
    assert con.autocommit


def test_a_closed_connection_can_not_be_used() -> None:
    con = pinakes.connect(data=":memory:")
    cursor = con.cursor()
    con.close()
    con.close()
    uses = [con.cursor, con.commit, con.rollback, lambda: con.execute("SELECT 1"), lambda: con.sql("SELECT 1")]
    uses += [lambda: cursor.execute("SELECT 1"), lambda: con.register("x", pa.table({})), lambda: con.unregister("x")]
    uses += [lambda: con.append("x", pa.table({"a": [1]})), lambda: con.executemany("SELECT 1", [])]
    for use in uses:
        with pytest.raises(pinakes.ProgrammingError, match="was closed"):
            use()


# --- the cursor --------------------------------------------------------------------------------------------------


def test_the_methods_and_attributes_are_there(con: pinakes.Connection) -> None:
    wanted = "description rowcount close execute executemany fetchone fetchmany fetchall arraysize setinputsizes"
    cursor = con.cursor()
    assert [name for name in [*wanted.split(), "setoutputsize", "connection"] if not hasattr(cursor, name)] == []
    assert cursor.connection is con
    assert (cursor.description, cursor.rowcount, cursor.arraysize) == (None, -1, 1)
    cursor.setinputsizes([10])
    cursor.setoutputsize(10)
    cursor.setoutputsize(10, 1)
    assert list(inspect.signature(cursor.execute).parameters) == ["operation", "parameters"]
    assert list(inspect.signature(cursor.executemany).parameters) == ["operation", "seq_of_parameters"]


def test_description(con: pinakes.Connection) -> None:
    cursor = con.execute("SELECT CAST(1 AS DECIMAL(10, 2)) AS price, nullif('x', 'x') AS note")
    assert cursor.description == [
        ("price", pa.decimal128(10, 2), None, None, 10, 2, False),
        ("note", pa.string(), None, None, None, None, True),
    ]
    assert cursor.execute("CREATE TABLE t (a INT)").description is None


def test_rowcount(con: pinakes.Connection) -> None:
    cursor = con.cursor()
    assert cursor.execute("CREATE TABLE t (a INT)").rowcount == -1
    assert cursor.execute("INSERT INTO t VALUES (1), (2), (3)").rowcount == 3
    assert cursor.execute("UPDATE t SET a = a + 1 WHERE a > 1").rowcount == 2
    assert cursor.execute("DELETE FROM t").rowcount == 3
    assert cursor.execute("SELECT 1").rowcount == -1


def test_fetching(con: pinakes.Connection) -> None:
    cursor = con.execute("SELECT value FROM range(10) ORDER BY value")
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany() == [(1,)]
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(2,), (3,)]
    assert cursor.fetchmany(3) == [(4,), (5,), (6,)]
    assert next(cursor) == (7,)
    assert list(cursor) == [(8,), (9,)]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])


def test_fetching_without_a_query(con: pinakes.Connection) -> None:
    cursor = con.cursor()
    for ready in (lambda: None, lambda: cursor.execute("CREATE TABLE t (a INT)")):
        ready()
        for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, lambda: next(cursor)):
            with pytest.raises(pinakes.Error, match="no rows to fetch"):
                fetch()


def test_a_closed_cursor_can_not_be_used(con: pinakes.Connection) -> None:
    with con.cursor() as cursor:
        cursor.execute("SELECT 1")
    for use in (cursor.fetchall, lambda: cursor.execute("SELECT 1"), lambda: cursor.executemany("SELECT 1", [])):
        with pytest.raises(pinakes.Error, match="cursor was closed"):
            use()


def test_a_failed_statement_leaves_no_rows_of_the_last(con: pinakes.Connection) -> None:
    cursor = con.execute("SELECT 1")
    with pytest.raises(pinakes.Error):
        cursor.execute("SELECT * FROM nowhere")
    assert cursor.description is None
    with pytest.raises(pinakes.Error, match="no rows to fetch"):
        cursor.fetchall()


# --- executemany -------------------------------------------------------------------------------------------------


def snapshots(con: pinakes.Connection, table: str) -> int:
    from pinakes.core.names import Name

    return len(con.session.resolver.table(Name.of(table))[1].handle.metadata.snapshots)


def test_executemany_inserts_in_one_commit(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a BIGINT, b VARCHAR, d DECIMAL(10, 2))")
    rows = [(1, "x", 1), (2, None, 2.5), (None, "it's", 3)]
    assert con.executemany("INSERT INTO t VALUES (?, upper(?), ? + 1)", rows).rowcount == 3
    assert snapshots(con, "t") == 1
    found = con.execute("SELECT a, b, CAST(d AS DOUBLE) FROM t ORDER BY d").fetchall()
    assert found == [(1, "X", 2.0), (2, None, 3.5), (None, "IT'S", 4.0)]


def test_executemany_by_name(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a BIGINT, b BIGINT)")
    con.executemany("INSERT INTO t (b, a) VALUES (:x, :y + :x)", [{"x": 1, "y": 10}, {"x": 2, "y": 20}])
    assert con.execute("SELECT a, b FROM t ORDER BY a").fetchall() == [(11, 1), (22, 2)]


def test_executemany_of_other_statements(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a BIGINT, b BIGINT)")
    con.executemany("INSERT INTO t VALUES (?, 0)", [(n,) for n in range(4)])
    assert con.executemany("UPDATE t SET b = ? WHERE a = ?", [(10, 1), (20, 2)]).rowcount == 2
    assert con.execute("SELECT a FROM t WHERE b > 0 ORDER BY a").fetchall() == [(1,), (2,)]
    assert con.executemany("INSERT INTO t VALUES (?, 0)", []).rowcount == 0


def test_what_else_runs_during_executemany_stands_for_itself(con: pinakes.Connection) -> None:
    """Another thread's INSERT on the same connection must not be rolled back with changes that fail."""
    con.execute("CREATE TABLE t (a BIGINT)")
    con.execute("CREATE TABLE u (a BIGINT)")
    statement = con.session.engine.caches.statements.classify("UPDATE t SET a = 2")
    with pytest.raises(core.PinakesError), all_or_none(con.session, statement, 2) as within:
        _ = (
            within.run("INSERT INTO t VALUES (1)"),
            con.execute("INSERT INTO u VALUES (7)"),
            within.run("INSERT INTO t SELECT 1 / 0"),
        )
    assert con.execute("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)").fetchone() == (0, 1)


def test_executemany_of_changes_is_all_or_none(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a BIGINT, b BIGINT)")
    con.executemany("INSERT INTO t VALUES (?, 0)", [(n,) for n in range(4)])
    before = snapshots(con, "t")
    with pytest.raises(pinakes.Error):
        con.executemany("UPDATE t SET b = 10 / ? WHERE a = 1", [(5,), (2,), (0,)])
    assert con.execute("SELECT sum(b) FROM t").fetchone() == (0,)
    assert snapshots(con, "t") == before
    con.execute("BEGIN")  # nothing of it is left, and one that has begun is used
    con.executemany("DELETE FROM t WHERE a = ?", [(0,), (1,)])
    con.execute("ROLLBACK")
    assert con.execute("SELECT count(*) FROM t").fetchone() == (4,)


def test_executemany_says_what_does_not_fit(con: pinakes.Connection) -> None:
    con.execute("CREATE TABLE t (a BIGINT, b VARCHAR)")
    with pytest.raises(pinakes.ProgrammingError, match="use execute for a query"):
        con.executemany("SELECT ?", [(1,)])
    with pytest.raises(pinakes.ProgrammingError, match=r"parameter \$2 has no value; given: 1"):
        con.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), (2,)])
    with pytest.raises(pinakes.ProgrammingError, match="parameter 1 has values of types that do not go together"):
        con.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), (dt.date(2026, 1, 1), "x")])
    assert con.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_a_cursor_gives_frames_too(con: pinakes.Connection) -> None:
    """As users of DuckDB write it; once, as rows are read once."""
    sql = "SELECT value AS a FROM range(3) ORDER BY a"
    assert con.execute(sql).arrow().to_pydict() == {"a": [0, 1, 2]}
    assert con.execute(sql).df()["a"].tolist() == [0, 1, 2]
    assert con.cursor().execute(sql).pl()["a"].to_list() == [0, 1, 2]
    cursor = con.execute(sql)
    cursor.fetchone()
    with pytest.raises(pinakes.ProgrammingError, match="was read or closed already"):
        cursor.df()
    cursor = con.execute(sql)
    cursor.df()
    with pytest.raises(pinakes.ProgrammingError, match="was read or closed already"):
        cursor.fetchall()
    with pytest.raises(pinakes.ProgrammingError, match="no rows to fetch"):
        con.cursor().df()


def test_fewer_than_no_rows_cannot_be_fetched(con: pinakes.Connection) -> None:
    with pytest.raises(pinakes.ProgrammingError, match="-1 rows can't be fetched"):
        con.execute("SELECT 1").fetchmany(-1)


def test_a_commit_that_is_tried_again_says_nothing(
    con: pinakes.Connection, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute("CREATE TABLE t AS SELECT 1 AS a")
    theirs = commit_module._compare_and_set

    def meddled(transaction: Any) -> None:
        monkeypatch.setattr(commit_module, "_compare_and_set", theirs)
        con.execute("INSERT INTO t VALUES (2)")
        theirs(transaction)

    monkeypatch.setattr(commit_module, "_compare_and_set", meddled)
    with caplog.at_level(logging.INFO):
        con.execute("INSERT INTO t VALUES (3)")
    assert con.sql("SELECT count(*) FROM t").fetchall() == [(3,)]
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
