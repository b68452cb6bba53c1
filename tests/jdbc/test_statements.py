"""java.sql.Statement and PreparedStatement: counts, batches, limits, cancel, timeouts, transactions."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Any

import jpype
import pytest

from tests.flight.serving import Serving, eventually
from tests.jdbc.driver import ask, connect, do, texts

pytestmark = pytest.mark.slow


def endless(name: str) -> str:
    return f"SELECT value AS {name} FROM range(100000000000)"


def silent(name: str) -> str:
    """Takes for ever, and has nothing to send meanwhile."""
    return f"SELECT count(*) AS {name} FROM range(100000000000) WHERE value % 7 = 8"


@pytest.fixture
def statement(connection: Any) -> Any:
    statement = connection.createStatement()
    yield statement
    statement.close()


def times_run(server: Serving, sql: str) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM system.runtime.queries WHERE query = ?", (sql,))
        return int(cursor.fetchone()[0])  # type: ignore[index]


def state_of(server: Serving, sql: str) -> str:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT state FROM system.runtime.queries WHERE query = ? ORDER BY created DESC", (sql,))
        row = cursor.fetchone()
        return "" if row is None else str(row[0])


# --- changes -----------------------------------------------------------------------------------------------------


def test_counts(statement: Any) -> None:
    assert statement.executeUpdate("CREATE TABLE counted (id BIGINT, name VARCHAR)") == 0
    assert statement.executeUpdate("INSERT INTO counted VALUES (1, 'a'), (2, 'b'), (3, 'c')") == 3
    assert statement.executeUpdate("UPDATE counted SET name = 'x' WHERE id > 1") == 2
    assert statement.executeLargeUpdate("DELETE FROM counted WHERE id = 1") == 1
    assert statement.executeUpdate("DELETE FROM counted WHERE id = 1") == 0
    assert statement.executeUpdate("DROP TABLE counted") == 0


@pytest.mark.parametrize("method", ["execute", "executeUpdate", "executeQuery"])
def test_a_change_runs_once(server: Serving, connection: Any, method: str) -> None:
    """The driver runs again, as a query, what answers -1 rows."""
    table = f"once_{method}".lower()
    changes = [
        f"CREATE TABLE {table} AS SELECT 1 AS x",
        f"INSERT INTO {table} VALUES (2)",
        f"CREATE SCHEMA {table}",
        f"ALTER TABLE {table} ADD COLUMN y INTEGER",
        f"CREATE VIEW {table}_v AS SELECT * FROM {table}",
        f"DROP VIEW {table}_v",
        f"DROP TABLE {table}",
    ]
    for sql in changes:
        with closing(connection.createStatement()) as statement:
            if method == "executeQuery":
                with pytest.raises(jpype.JException, match="did not return a result set"):
                    statement.executeQuery(sql)
            else:
                getattr(statement, method)(sql)
        assert times_run(server, sql) == 1


def test_execute_distinguishes_rows_from_counts(statement: Any) -> None:
    assert statement.execute("SELECT 1 AS x")
    assert texts(statement.getResultSet()) == [("1",)]
    assert not statement.execute("CREATE TABLE told AS SELECT 1 AS x")
    assert not statement.execute("INSERT INTO told VALUES (2)")
    assert statement.getUpdateCount() == 1
    assert statement.execute("SHOW TABLES LIKE 'told'")
    assert texts(statement.getResultSet()) == [("told",)]


@pytest.mark.parametrize("method", ["execute", "executeUpdate"])
def test_a_prepared_change_runs_once(server: Serving, connection: Any, method: str) -> None:
    do(connection, f"CREATE TABLE prepared_{method} (x BIGINT)")
    with closing(connection.prepareStatement(f"INSERT INTO prepared_{method} VALUES (?)")) as prepared:
        for value in (1, 2):
            prepared.setLong(1, value)
            getattr(prepared, method)()
    assert ask(connection, f"SELECT x FROM prepared_{method} ORDER BY x") == [("1",), ("2",)]


def test_a_batch_is_one_commit(connection: Any) -> None:
    do(connection, "CREATE TABLE batched (id BIGINT, name VARCHAR)")
    with closing(connection.prepareStatement("INSERT INTO batched VALUES (?, ?)")) as prepared:
        for number in range(100):
            prepared.setLong(1, number)
            prepared.setString(2, str(number) if number % 2 else None)
            prepared.addBatch()
        assert sum(prepared.executeBatch()) == 100  # the driver has one count for all
    assert ask(connection, "SELECT count(*), sum(id), count(name) FROM batched") == [("100", "4950", "50")]
    assert ask(connection, "SELECT count(*) FROM system.iceberg.snapshots WHERE table_name = 'batched'") == [("1",)]


def test_errors_have_their_code(statement: Any) -> None:
    for sql, code in [
        ("SELEC 1", "PARSE_ERROR"),
        ("SELECT * FROM nowhere", "TABLE_NOT_FOUND"),
        ("SELECT 1 / (SELECT 0)", "division by zero"),
        ("", "PARSE_ERROR"),
        (f"SELECT {', '.join(['x' * 4_000] * 8)}", "COLUMN_NOT_FOUND"),  # it shows nothing of longer headers
    ]:
        with pytest.raises(jpype.JException, match=code) as error:
            texts(statement.executeQuery(sql))
        assert "Traceback" not in str(error.value)
        assert ".py" not in str(error.value)


# --- transactions ------------------------------------------------------------------------------------------------


def test_transactions_are_spoken_in_sql(server: Serving, connection: Any) -> None:
    do(connection, "CREATE TABLE moved (x BIGINT)", "BEGIN", "INSERT INTO moved VALUES (1)")
    with closing(connect(server.port)) as other:
        assert ask(other, "SELECT count(*) FROM moved") == [("0",)]
        do(connection, "COMMIT")
        assert ask(other, "SELECT count(*) FROM moved") == [("1",)]
    do(connection, "BEGIN", "INSERT INTO moved VALUES (2)", "ROLLBACK")
    assert ask(connection, "SELECT count(*) FROM moved") == [("1",)]


def test_the_driver_keeps_commit_and_rollback_to_itself(connection: Any) -> None:
    """So without BEGIN everything is committed at once, whatever setAutoCommit(false) promises; and applications are
    told that there are no transactions."""
    about = connection.getMetaData()
    assert not about.supportsTransactions()
    assert not any(about.supportsTransactionIsolationLevel(level) for level in (1, 2, 4, 8))
    assert not about.supportsDataDefinitionAndDataManipulationTransactions()
    do(connection, "CREATE TABLE kept (x BIGINT)")
    connection.setAutoCommit(False)
    do(connection, "INSERT INTO kept VALUES (1)")
    connection.rollback()
    connection.setAutoCommit(True)
    assert ask(connection, "SELECT count(*) FROM kept") == [("1",)]


# --- how much, how long ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 200])
def test_max_rows_and_fetch_size(server: Serving, connection: Any, size: int) -> None:
    sql = f"SELECT value FROM range({100_000_000_000 + size})"
    with closing(connection.createStatement()) as statement:
        statement.setMaxRows(size)
        statement.setFetchSize(size)
        assert texts(statement.executeQuery(sql)) == [(str(n),) for n in range(size)]
    assert eventually(lambda: state_of(server, sql) in ("FINISHED", "CANCELED"))


def test_a_result_that_is_closed_ends_its_query(server: Serving, connection: Any) -> None:
    with closing(connection.createStatement()) as statement:
        result = statement.executeQuery(endless("closed"))
        assert result.next()
        result.close()
    assert eventually(lambda: state_of(server, endless("closed")) == "CANCELED")
    assert ask(connection, "SELECT 1") == [("1",)]


def test_a_statement_that_is_closed_ends_its_query(server: Serving, connection: Any) -> None:
    statement = connection.createStatement()
    result = statement.executeQuery(endless("statement"))
    assert result.next()
    statement.close()
    assert result.isClosed()
    assert eventually(lambda: state_of(server, endless("statement")) == "CANCELED")


@pytest.mark.parametrize("sql", [silent("canceled"), endless("canceled")], ids=["silent", "streaming"])
def test_cancel_from_another_thread(server: Serving, connection_to_cancel: Any, sql: str) -> None:
    said: list[str] = []

    def read() -> None:
        try:
            result = statement.executeQuery(sql)
            while result.next():
                pass
        except jpype.JException as error:
            said.append(str(error))

    with closing(connection_to_cancel.createStatement()) as statement:
        thread = threading.Thread(target=read)
        thread.start()
        assert eventually(lambda: state_of(server, sql) == "RUNNING")
        statement.cancel()
        thread.join(60)
        assert not thread.is_alive()
    assert eventually(lambda: state_of(server, sql) == "CANCELED")
    assert said
    assert ask(connection_to_cancel, "SELECT 1") == [("1",)]


def test_a_query_timeout_ends_the_query(server: Serving, connection: Any) -> None:
    sql = silent("timeout")
    with closing(connection.createStatement()) as statement:
        statement.setQueryTimeout(1)
        with pytest.raises(jpype.JException, match=r"(?i)time"):
            texts(statement.executeQuery(sql))
    assert eventually(lambda: state_of(server, sql) == "CANCELED")


def test_two_results_at_a_time(connection: Any) -> None:
    with closing(connection.createStatement()) as one, closing(connection.createStatement()) as two:
        left, right = (
            one.executeQuery("SELECT value FROM range(5)"),
            two.executeQuery("SELECT value + 10 FROM range(5)"),
        )
        for number in range(5):
            assert (left.next(), right.next()) == (True, True)
            assert (left.getLong(1), right.getLong(1)) == (number, number + 10)
        left.close()
        right.close()
