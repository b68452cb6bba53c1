"""What an ADBC client does: statements, parameters, results in every form, errors, transactions."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from pathlib import Path

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


def test_columns_may_have_one_name(cursor: adbc.Cursor) -> None:
    cursor.execute("SELECT ? AS a, x AS a FROM (VALUES (2)) AS t (x)", (1,))
    assert cursor.fetch_arrow_table().schema.names == ["a", "a"]
    cursor.adbc_prepare("SELECT 1 AS a, 2 AS a")
    cursor.execute("SELECT 1 AS a, 2 AS a")
    assert [column[0] for column in cursor.description or ()] == ["a", "a"]
    assert cursor.fetchall() == [(1, 2)]


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


UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")
STORED = pa.array([UUID.bytes], pa.binary(16))


@pytest.mark.parametrize(
    "given",
    [
        (UUID,),
        (str(UUID),),
        pa.record_batch([pa.ExtensionArray.from_storage(pa.uuid(), STORED)], names=["1"]),
        pa.record_batch([STORED], names=["1"]),
    ],
    ids=["uuid.UUID", "text", "arrow.uuid", "16 bytes"],
)
def test_a_uuid_is_bound_in_every_form(cursor: adbc.Cursor, given: object) -> None:
    cursor.execute("CREATE OR REPLACE TABLE with_uuid (u UUID, k INTEGER)")
    cursor.execute("INSERT INTO with_uuid VALUES (?, 1)", given)
    cursor.execute("INSERT INTO with_uuid VALUES ('00000000-0000-0000-0000-000000000000', 2)")
    cursor.execute("SELECT u, k FROM with_uuid WHERE u = ?", given)
    assert cursor.fetchall() == [(str(UUID), 1)]
    cursor.execute("SELECT k FROM with_uuid WHERE u IN (?)", given)
    assert cursor.fetchall() == [(1,)]
    cursor.execute("DELETE FROM with_uuid WHERE u = ?", given)
    cursor.execute("SELECT k FROM with_uuid")
    assert cursor.fetchall() == [(2,)]


def test_what_is_not_supported_is_reported_with_parameters_too(cursor: adbc.Cursor) -> None:
    with pytest.raises(adbc.ProgrammingError, match="NOT_SUPPORTED: length is for texts"):
        cursor.execute("SELECT length([1, 2]) WHERE 1 = ?", (1,))
    with pytest.raises(adbc.NotSupportedError, match="NOT_SUPPORTED: length is for texts"):
        cursor.execute("SELECT length([1, 2])")


WHEN = datetime.datetime(2024, 2, 29, 12, 30, 0, 123456)
NUMBERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64(), pa.decimal32(5, 2), pa.decimal64(9, 1), pa.decimal128(10, 0)),
    pa.decimal256(40, 1),
]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)]
BOUND: list[tuple[str, str, object, list[pa.DataType]]] = [
    *((kind, "5", 5, NUMBERS) for kind in ("SMALLINT", "INT", "BIGINT", "REAL", "DOUBLE", "DECIMAL(10, 2)")),
    ("DOUBLE", "1.5", 1.5, [pa.float16(), pa.float32(), pa.float64()]),
    ("DECIMAL(10, 2)", "4.40", Decimal("4.40"), [pa.decimal128(10, 2), pa.decimal128(38, 10), pa.decimal256(50, 5)]),
    ("DECIMAL(10, 2)", "4.40", 4.40, [pa.float64()]),
    ("BOOLEAN", "true", True, [pa.bool_()]),
    ("VARCHAR", "'abc'", "abc", TEXTS),
    ("VARBINARY", "X'616263'", b"abc", BYTES),
    ("DATE", "DATE '2024-02-29'", WHEN.date(), [pa.date32(), pa.date64()]),
    ("TIME", "TIME '12:30:00.123456'", WHEN.time(), [pa.time64("us"), pa.time64("ns")]),
    ("TIMESTAMP", f"TIMESTAMP '{WHEN}'", WHEN, [pa.timestamp("us"), pa.timestamp("ns")]),
    (
        "TIMESTAMP WITH TIME ZONE",
        f"TIMESTAMP WITH TIME ZONE '{WHEN}+00:00'",
        WHEN.replace(tzinfo=datetime.UTC),
        [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC"), pa.timestamp("us", "Europe/Athens")],
    ),
]


@pytest.mark.parametrize(("kind", "literal", "value", "types"), BOUND, ids=lambda x: x if isinstance(x, str) else "")
def test_a_parameter_of_any_type_equals_the_literal(
    cursor: adbc.Cursor, kind: str, literal: str, value: object, types: list[pa.DataType]
) -> None:
    cursor.execute(f"CREATE OR REPLACE TABLE bound (c {kind})")
    cursor.execute(f"INSERT INTO bound VALUES ({literal})")
    for t in types:
        batch = pa.record_batch([pa.array([value], t)], names=["1"])
        for condition in ("c = ?", "? = c", "c <= ?", "NOT (c <> ?)", "c IN (?)", "c BETWEEN ? AND c"):
            cursor.execute(f"SELECT count(*) FROM bound WHERE {condition}", batch)
            assert cursor.fetchone() == (1,), (t, condition)
        cursor.execute("INSERT INTO bound VALUES (?)", batch)
        cursor.execute(f"SELECT count(*) FROM bound WHERE c = {literal}")
        assert cursor.fetchone() == (2,), t
        cursor.execute(f"INSERT OVERWRITE bound VALUES ({literal})")


def test_many_uuids_are_bound_at_once(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE OR REPLACE TABLE with_uuid (u UUID, k INTEGER)")
    cursor.executemany("INSERT INTO with_uuid VALUES (?, ?)", [(UUID, 1), (uuid.UUID(int=7), 2)])
    cursor.execute("SELECT k FROM with_uuid WHERE u = ?", (uuid.UUID(int=7),))
    assert cursor.fetchall() == [(2,)]


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


def test_the_wrong_number_of_parameters_is_reported(cursor: adbc.Cursor) -> None:
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


def test_returning_gives_rows_and_changes_once(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE TABLE given_back (id BIGINT, v VARCHAR)")
    schema = cursor.adbc_execute_schema("INSERT INTO given_back VALUES (1, 'a') RETURNING id + 1 AS n, v")
    assert {field.name: field.type for field in schema} == {"n": pa.int64(), "v": pa.string()}
    cursor.execute("INSERT INTO given_back VALUES (1, 'a') RETURNING id + 1 AS n, v")
    assert cursor.fetchall() == [(2, "a")]
    cursor.execute("INSERT INTO given_back VALUES (?, ?) RETURNING id + ?", (2, "b", 10))
    assert cursor.fetchall() == [(12,)]
    cursor.adbc_prepare("UPDATE given_back SET v = ? WHERE id = ? RETURNING *")
    cursor.execute("UPDATE given_back SET v = ? WHERE id = ? RETURNING *", ("c", 2))
    assert cursor.fetchall() == [(2, "c")]
    cursor.execute("SELECT * FROM given_back ORDER BY id")
    assert cursor.fetchall() == [(1, "a"), (2, "c")]
    cursor.execute("DELETE FROM given_back RETURNING id")
    assert sorted(cursor.fetchall()) == [(1,), (2,)]


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
        # The driver forgets its transaction before it knows whether the commit failed, and begins no other: it is of no
        # use any more (docs/how-to/connect-flight-sql.md). rollback() after an error and COMMIT as a
        # statement do not have this effect.
        with pytest.raises(adbc.OperationalError, match="missing a valid transaction"):
            cursor.execute("SELECT count(*) FROM aborted")
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM aborted")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("SELECT nope", "COLUMN_NOT_FOUND"),
        ("SELEC 1", "PARSE_ERROR"),
        ("SELECT * FROM nowhere", "TABLE_NOT_FOUND"),
        ("SELECT 1 WHERE 4 NOT IN (SELECT id FROM partial)", "NOT_SUPPORTED"),
    ],
)
def test_an_error_while_preparing_aborts_the_transaction(server: Serving, wrong: str, told: str) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS partial (id BIGINT)")
        connection.commit()
        cursor.execute("INSERT INTO partial VALUES (1)")
        with pytest.raises(adbc.Error, match=told):
            cursor.execute(wrong)
        with pytest.raises(adbc.OperationalError, match=r"TRANSACTION_ABORTED.*rolled back"):
            connection.commit()
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM partial")
        assert cursor.fetchone() == (0,)


def test_an_error_while_preparing_with_parameters_aborts_the_transaction(server: Serving) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE partial_bound (id BIGINT)")
        connection.commit()
        cursor.execute("INSERT INTO partial_bound VALUES (1)")
        with pytest.raises(adbc.Error, match="NOT_SUPPORTED"):
            cursor.execute("SELECT ? WHERE 4 NOT IN (SELECT id FROM partial_bound)", (1,))
        with pytest.raises(adbc.OperationalError, match=r"TRANSACTION_ABORTED.*rolled back"):
            connection.commit()


def test_a_rollback_after_an_error_leaves_the_connection_well(server: Serving) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE undone (id BIGINT)")
        connection.commit()
        with pytest.raises(adbc.OperationalError, match="division by zero"):
            cursor.execute("INSERT INTO undone SELECT 1 / (SELECT 0)")
        with pytest.raises(adbc.OperationalError, match=r"TRANSACTION_ABORTED.*ROLLBACK ends it"):
            cursor.execute("INSERT INTO undone VALUES (1)")
        connection.rollback()
        cursor.execute("INSERT INTO undone VALUES (2)")
        connection.commit()
        cursor.execute("SELECT id FROM undone")
        assert cursor.fetchall() == [(2,)]


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_typed_ends_and_those_of_the_client_stay_in_step(server: Serving, end: str) -> None:
    """With autocommit off: after each typed end the next statement works, and is in a transaction."""
    table = f"step_{end.lower()}"
    with server.connect() as watching, server.connect(autocommit=False) as connection:
        watch, cursor = watching.cursor(), connection.cursor()

        def seen() -> int:
            watch.execute(f"SELECT count(*) FROM {table}")
            row = watch.fetchone()
            assert row is not None
            return int(row[0])

        cursor.execute(f"CREATE TABLE {table} (id BIGINT)")
        connection.commit()
        cursor.execute("BEGIN")  # it has begun already
        cursor.execute(f"INSERT INTO {table} VALUES (1)")
        cursor.execute(end)
        kept = int(end == "COMMIT")
        assert seen() == kept
        cursor.execute(f"INSERT INTO {table} VALUES (2)")
        assert seen() == kept
        connection.rollback()
        assert seen() == kept
        cursor.execute(f"INSERT INTO {table} VALUES (3)")
        cursor.execute(end)
        connection.commit()  # of what is over
        connection.commit()
        connection.rollback()
        cursor.execute(f"INSERT INTO {table} VALUES (4)")
        connection.commit()
        assert seen() == 2 * kept + 1
        with pytest.raises(adbc.OperationalError, match="division by zero"):
            cursor.execute("SELECT 1 / (SELECT 0)").fetchall()
        with pytest.raises(adbc.OperationalError, match="TRANSACTION_ABORTED"):
            cursor.execute("COMMIT")
        cursor.execute(f"INSERT INTO {table} VALUES (5)")
        connection.commit()
        assert seen() == 2 * kept + 2
        watch.close()
        cursor.close()


def test_definitions_with_autocommit_off(server: Serving) -> None:
    with server.connect() as watching, server.connect(autocommit=False) as connection:
        watch, cursor = watching.cursor(), connection.cursor()

        def seen() -> list[str]:
            watch.execute("SHOW TABLES IN ddl")
            return [row[0] for row in watch.fetchall()]

        watch.execute("CREATE SCHEMA ddl")
        cursor.execute("CREATE TABLE ddl.t (id BIGINT)")
        cursor.execute("INSERT INTO ddl.t VALUES (1)")
        cursor.execute("CREATE VIEW ddl.v AS SELECT id FROM ddl.t")
        cursor.execute("SELECT * FROM ddl.v")
        assert cursor.fetchall() == [(1,)]
        assert seen() == []
        connection.rollback()
        assert seen() == []
        cursor.execute("CREATE TABLE ddl.t AS SELECT 1 AS id")
        connection.commit()
        assert seen() == ["t"]
        cursor.execute("ALTER TABLE ddl.t RENAME TO ddl.u")
        cursor.execute("DROP TABLE ddl.u")
        connection.rollback()
        assert seen() == ["t"]
        cursor.execute("CREATE TEMP TABLE z AS SELECT 1 AS id")
        connection.commit()
        cursor.execute("DROP SCHEMA ddl CASCADE")
        connection.commit()
        watch.execute("SHOW SCHEMAS LIKE 'ddl'")
        assert watch.fetchall() == []
        watch.close()
        cursor.close()


def test_a_commit_that_meets_a_conflict_does_not_stick(server: Serving) -> None:
    with server.connect() as other, server.connect(autocommit=False) as connection:
        with other.cursor() as cursor:
            cursor.execute("CREATE TABLE contested (id BIGINT)")
        with connection.cursor() as mine, other.cursor() as theirs:
            mine.execute("INSERT INTO contested VALUES (1)")
            theirs.execute("INSERT INTO contested VALUES (2)")
            with pytest.raises(adbc.Error, match="COMMIT_CONFLICT"):
                mine.execute("COMMIT")
            mine.execute("INSERT INTO contested VALUES (3)")
            connection.commit()
            theirs.execute("SELECT id FROM contested ORDER BY id")
            assert theirs.fetchall() == [(2,), (3,)]


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


def test_the_schema_of_a_connection_that_sets_its_catalog_only(server: Serving, tmp_path: Path) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"ATTACH '{tmp_path}' AS shop (TYPE sqlite)")
        try:
            connection.adbc_current_catalog = "shop"
            assert connection.adbc_current_db_schema == ""
            cursor.execute("CREATE TABLE x AS SELECT 1 AS a")
            listed = connection.adbc_get_objects(catalog_filter="shop", db_schema_filter="", depth="tables").read_all()
            (schema,) = listed.to_pylist()[0]["catalog_db_schemas"]
            assert (schema["db_schema_name"], schema["db_schema_tables"][0]["table_name"]) == ("", "x")
            for name in ("x", "shop.x", 'shop."".x', '"shop".""."x"'):
                cursor.execute(f"SELECT * FROM {name}")
                assert cursor.fetchall() == [(1,)]
            connection.adbc_current_db_schema = ""
            cursor.execute("CREATE SCHEMA default")
            connection.adbc_current_catalog = "shop"
            assert connection.adbc_current_db_schema == "default"
        finally:
            connection.adbc_current_catalog = "lake"
            cursor.execute("DETACH shop")
