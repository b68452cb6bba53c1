"""What an ADBC client does: statements, parameters, results in every form, errors, transactions."""

from __future__ import annotations

import datetime
from decimal import Decimal

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pytest

from tests.flight.serving import Serving, eventually


def test_a_query_gives_its_rows(cursor: adbc.Cursor) -> None:
    cursor.execute("SELECT 1 AS x, 'a' AS y UNION ALL SELECT 2, NULL ORDER BY 1")
    assert cursor.fetchall() == [(1, "a"), (2, None)]
    assert [column[0] for column in cursor.description or ()] == ["x", "y"]


def test_results_come_as_arrow_pandas_and_polars(cursor: adbc.Cursor) -> None:
    sql = "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)"
    cursor.execute(sql)
    assert cursor.fetch_arrow_table().to_pydict() == {"n": [1, 2], "s": ["a", "b"]}
    cursor.execute(sql)
    assert cursor.fetch_df().to_dict("list") == {"n": [1, 2], "s": ["a", "b"]}
    cursor.execute(sql)
    assert cursor.fetch_polars().to_dict(as_series=False) == {"n": [1, 2], "s": ["a", "b"]}


def test_an_empty_result_has_its_columns(cursor: adbc.Cursor) -> None:
    cursor.execute("SELECT 1 AS x WHERE false")
    assert cursor.fetch_arrow_table().schema.names == ["x"]


@pytest.mark.parametrize(
    "value",
    [
        True,
        1,
        2**62,
        -1.5,
        "ä'\"; --",
        "",
        b"\x00\xff",
        Decimal("12.34"),
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 12, 30, 0, 123456),
        datetime.time(1, 2, 3, 4),
        None,
    ],
)
def test_parameters_of_every_type_come_back_as_they_went(cursor: adbc.Cursor, value: object) -> None:
    cursor.execute("SELECT ? AS x", (value,))
    assert cursor.fetchone() == (value,)


def test_parameters_by_number_and_in_limit(cursor: adbc.Cursor) -> None:
    cursor.execute("SELECT x FROM (VALUES (1), (2), (3)) AS t(x) WHERE x >= $1 ORDER BY x LIMIT $2", (2, 1))
    assert cursor.fetchall() == [(2,)]


def test_named_parameters_are_given_in_the_order_of_their_names(cursor: adbc.Cursor) -> None:
    """The driver has no parameters by name."""
    cursor.execute("SELECT :b AS b, :a AS a, :b AS again", ("x", 1))
    assert cursor.fetchall() == [("x", 1, "x")]


def test_a_parameter_is_never_part_of_the_text(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE careful (x VARCHAR)")
    cursor.execute("INSERT INTO careful VALUES (?)", ("'); DROP TABLE careful; --",))
    cursor.execute("SELECT x FROM careful")
    assert cursor.fetchall() == [("'); DROP TABLE careful; --",)]


def test_the_wrong_number_of_parameters_is_told(cursor: adbc.Cursor) -> None:
    with pytest.raises(adbc.ProgrammingError, match="takes 2 parameters, and 1 were given"):
        cursor.execute("SELECT ?, ?", (1,))


def test_one_query_for_several_rows_of_parameters(connection: adbc.Connection) -> None:
    rows = pa.table({"1": [1, 2, 3]})
    with connection.cursor() as cursor:
        cursor.execute("SELECT ? * 10 AS x", rows)  # type: ignore[arg-type]
        assert cursor.fetch_arrow_table().column("x").to_pylist() == [10, 20, 30]


def test_changes_tell_their_rows(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE changed (id BIGINT, name VARCHAR)")
    cursor.execute("INSERT INTO changed VALUES (1, 'a'), (2, 'b')")
    assert cursor.rowcount == 2
    cursor.execute("UPDATE changed SET name = ? WHERE id = ?", ("c", 2))
    assert cursor.rowcount == 1
    cursor.execute("DELETE FROM changed WHERE id = ?", (1,))
    cursor.execute("SELECT * FROM changed")
    assert cursor.fetchall() == [(2, "c")]


def test_many_rows_are_one_commit(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE many (id BIGINT, name VARCHAR)")
    cursor.executemany("INSERT INTO many VALUES (?, ?)", [(n, str(n)) for n in range(500)])
    assert cursor.rowcount == 500
    cursor.execute("SELECT count(*), sum(id), max(name) FROM many")
    assert cursor.fetchall() == [(500, 499 * 250, "99")]
    cursor.execute("SELECT count(*) FROM system.iceberg.snapshots WHERE table_name = 'many'")
    assert cursor.fetchall() == [(1,)]


def test_many_changes(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE several (id BIGINT, name VARCHAR)")
    cursor.execute("INSERT INTO several VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    cursor.executemany("UPDATE several SET name = ? WHERE id = ?", [("x", 1), ("y", 2)])
    assert cursor.rowcount == 2
    cursor.execute("SELECT name FROM several ORDER BY id")
    assert cursor.fetchall() == [("x",), ("y",), ("c",)]


def test_a_query_for_many_rows_of_parameters(cursor: adbc.Cursor) -> None:
    """One after the other; that a value may be NULL in one of them makes them no different."""
    cursor.execute("SELECT ? + 1 AS n", pa.record_batch({"1": pa.array([1, None, 3], pa.int64())}))
    assert cursor.fetchall() == [(2,), (None,), (4,)]


def test_a_query_for_many_rows_of_parameters_is_stopped_as_one(server: Serving, cursor: adbc.Cursor) -> None:
    with server.connect() as connection, connection.cursor() as endless:
        endless.execute("SELECT value + ? AS n FROM range(100000000000)", pa.record_batch({"1": pa.array([1, 2])}))
        reader = endless.fetch_record_batch()
        reader.read_next_batch()
        reader.close()
    states = "SELECT DISTINCT state FROM system.runtime.queries WHERE query LIKE 'SELECT value + ? AS n%'"

    def found() -> object:
        cursor.execute(states)
        return cursor.fetchall()

    assert eventually(lambda: found() == [("CANCELED",)])


def test_changes_for_many_rows_are_all_or_none(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE whole AS SELECT value AS id, 0 AS n FROM range(3)")
    with pytest.raises(adbc.Error):
        cursor.executemany("UPDATE whole SET n = 10 / ? WHERE id = 1", [(5,), (0,)])
    cursor.execute("SELECT sum(n) FROM whole")
    assert cursor.fetchone() == (0,)
    cursor.executemany("UPDATE whole SET n = ? WHERE id = ?", [(5, 1), (7, 2)])
    cursor.execute("SELECT sum(n) FROM whole")
    assert cursor.fetchone() == (12,)


def test_a_statement_runs_once(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE once (id BIGINT)")
    cursor.execute("INSERT INTO once VALUES (1)")
    cursor.fetchall()
    cursor.execute("SELECT count(*) FROM once")
    assert cursor.fetchall() == [(1,)]


def test_show_and_describe_have_rows(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE shown (id BIGINT)")
    cursor.execute("SHOW TABLES LIKE 'shown'")
    assert cursor.fetchall() == [("shown",)]
    cursor.execute("DESCRIBE shown")
    assert cursor.fetchall() == [("id", "bigint", "", "")]


def test_the_schema_of_a_query_without_running_it(cursor: adbc.Cursor) -> None:
    schema = cursor.adbc_execute_schema("SELECT 1 / 0 AS x, 'a' AS y")
    assert {field.name: field.type for field in schema} == {"x": pa.int64(), "y": pa.string()}


@pytest.mark.parametrize(
    ("sql", "kind", "code"),
    [
        ("SELEC 1", adbc.ProgrammingError, "PARSE_ERROR"),
        ("SELECT * FROM nowhere", adbc.ProgrammingError, "TABLE_NOT_FOUND"),
        ("SELECT x", adbc.ProgrammingError, "COLUMN_NOT_FOUND"),
        ("SELECT 1 / (SELECT 0)", adbc.OperationalError, "EXECUTION_ERROR: division by zero"),
        ("GRANT SELECT ON t TO u", adbc.NotSupportedError, "NOT_SUPPORTED"),
        ("  ;", adbc.ProgrammingError, "PARSE_ERROR"),
    ],
)
def test_errors_have_their_code_and_no_traceback(
    cursor: adbc.Cursor, sql: str, kind: type[Exception], code: str
) -> None:
    def run() -> None:
        cursor.execute(sql)
        cursor.fetchall()

    with pytest.raises(kind) as error:
        run()
    assert code in str(error.value)
    assert "Traceback" not in str(error.value)
    assert ".py" not in str(error.value)


def test_transactions_are_committed_or_not(server: Serving) -> None:
    with server.connect() as watching, watching.cursor() as watch:
        watch.execute("CREATE TABLE moved (id BIGINT)")
        with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO moved VALUES (1)")
            watch.execute("SELECT count(*) FROM moved")
            assert watch.fetchone() == (0,)
            connection.commit()
            watch.execute("SELECT count(*) FROM moved")
            assert watch.fetchone() == (1,)
            cursor.execute("INSERT INTO moved VALUES (2)")
            cursor.execute("SELECT count(*) FROM moved")
            assert cursor.fetchone() == (2,)
            connection.rollback()
        watch.execute("SELECT count(*) FROM moved")
        assert watch.fetchone() == (1,)


def test_the_commit_of_an_aborted_transaction_is_an_error(server: Serving) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE aborted (id BIGINT)")
        connection.commit()
        cursor.execute("INSERT INTO aborted VALUES (1)")
        with pytest.raises(adbc.OperationalError, match="division by zero"):
            cursor.execute("INSERT INTO aborted SELECT 1 / (SELECT 0)")
        with pytest.raises(adbc.OperationalError, match=r"TRANSACTION_ABORTED.*rolled back"):
            connection.commit()


def test_connections_have_sessions_of_their_own(server: Serving) -> None:
    with server.connect() as one, server.connect() as other, one.cursor() as a, other.cursor() as b:
        a.execute("SET time_zone = '+02:00'")
        b.execute("SHOW SESSION LIKE 'time_zone'")
        assert b.fetchone()[1] == "UTC"
        a.execute("SHOW SESSION LIKE 'time_zone'")
        assert a.fetchone()[1] == "+02:00"


def test_the_catalog_and_schema_of_a_connection(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA place")
        connection.adbc_current_db_schema = "place"
        cursor.execute("SHOW CURRENT NAMESPACE")
        assert cursor.fetchone() == ("lake", "place")
    assert connection.adbc_current_catalog == "lake"
    assert connection.adbc_current_db_schema == "place"
    with pytest.raises(adbc.Error):
        connection.adbc_current_catalog = "nowhere"
    assert connection.adbc_current_catalog == "lake"
