"""PreparedStatement: parameters of every type, by the setter of the type and as objects, and null."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

import jpype
import pytest

from tests.flight.serving import Serving, serving
from tests.jdbc.driver import JAVA, ask, texts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as running:
        with running.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE every (boolean BOOLEAN, int INTEGER, bigint BIGINT, real REAL, double DOUBLE, "
                "decimal DECIMAL(18, 3), varchar VARCHAR, varbinary VARBINARY, date DATE, time TIME, "
                "timestamp TIMESTAMP, instant TIMESTAMP WITH TIME ZONE, uuid UUID)"
            )
        yield running


def sql_date(text: str) -> Any:
    return JAVA("java.sql.Date").valueOf(text)


def sql_time(text: str) -> Any:
    return JAVA("java.sql.Time").valueOf(text)


def sql_timestamp(text: str) -> Any:
    return JAVA("java.sql.Timestamp").valueOf(text)


SET = [
    ("boolean", "setBoolean", lambda: True, "true"),
    ("int", "setInt", lambda: -7, "-7"),
    ("int", "setShort", lambda: 7, "7"),
    ("int", "setByte", lambda: 7, "7"),
    ("bigint", "setLong", lambda: 2**62, str(2**62)),
    ("bigint", "setInt", lambda: 5, "5"),
    ("real", "setFloat", lambda: 1.5, "1.5"),
    ("double", "setDouble", lambda: -2.25, "-2.25"),
    ("decimal", "setBigDecimal", lambda: JAVA("java.math.BigDecimal")("12.345"), "12.345"),
    ("varchar", "setString", lambda: "ä'\"; --𝄞", "ä'\"; --𝄞"),
    ("varchar", "setString", lambda: "", ""),
    ("varbinary", "setBytes", lambda: jpype.JArray(jpype.JByte)([0, -1, 16]), "\x00�\x10"),
    ("date", "setDate", lambda: sql_date("2024-02-29"), "2024-02-29"),
    ("time", "setTime", lambda: sql_time("12:34:56"), "12:34:56"),
    ("timestamp", "setTimestamp", lambda: sql_timestamp("2024-07-01 12:34:56.789"), "2024-07-01 12:34:56.789"),
    ("instant", "setTimestamp", lambda: sql_timestamp("2024-07-01 12:34:56.789"), "2024-07-01 12:34:56.789"),
    (
        "uuid",
        "setString",
        lambda: "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ),
]
COLUMNS = sorted({column for column, *_ in SET})


def stored(connection: Any, column: str, setter: str, *value: Any) -> str | None:
    """What a column has after a row with this parameter was inserted."""
    with closing(connection.prepareStatement(f'INSERT INTO every ("{column}") VALUES (?)')) as prepared:
        getattr(prepared, setter)(1, *value)
        assert prepared.executeUpdate() == 1
    found = ask(connection, f'SELECT "{column}" FROM every')
    with closing(connection.createStatement()) as statement:
        statement.execute("DELETE FROM every")
    ((text,),) = found
    return text


@pytest.mark.parametrize(("column", "setter", "value", "text"), SET)
def test_set(connection: Any, column: str, setter: str, value: Any, text: str) -> None:
    assert stored(connection, column, setter, value()) == text


@pytest.mark.parametrize(("column", "setter", "value", "text"), SET)
def test_set_in_a_condition(connection: Any, column: str, setter: str, value: Any, text: str) -> None:
    """Its type is that of the column it is compared with."""
    with closing(connection.prepareStatement(f'INSERT INTO every ("{column}") VALUES (?)')) as prepared:
        getattr(prepared, setter)(1, value())
        prepared.executeUpdate()
    with closing(connection.prepareStatement(f'SELECT "{column}" FROM every WHERE "{column}" = ?')) as prepared:
        getattr(prepared, setter)(1, value())
        assert texts(prepared.executeQuery()) == [(text,)]
    with closing(connection.createStatement()) as statement:
        statement.execute("DELETE FROM every")


@pytest.mark.parametrize("column", COLUMNS)
def test_null(connection: Any, column: str) -> None:
    assert stored(connection, column, "setNull", 0) is None
    assert stored(connection, column, "setObject", None) is None


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [("bigint", 5, "5"), ("varchar", "x", "x"), ("double", 2.5, "2.5"), ("boolean", True, "true")],
)
def test_objects(connection: Any, column: str, value: object, text: str) -> None:
    assert stored(connection, column, "setObject", value) == text


def test_parameters_of_unknown_type_are_texts(connection: Any) -> None:
    with closing(connection.prepareStatement("SELECT ? AS x, ? AS y")) as prepared:
        prepared.setString(1, "a")
        prepared.setString(2, "'; --")
        assert texts(prepared.executeQuery()) == [("a", "'; --")]


def test_a_prepared_query_runs_again_with_other_values(connection: Any) -> None:
    with closing(connection.prepareStatement("SELECT value FROM range(10) WHERE value > ? LIMIT ?")) as prepared:
        for least, most in ((3, 2), (8, 5), (9, 1)):
            prepared.setLong(1, least)
            prepared.setLong(2, most)
            assert [int(row[0] or 0) for row in texts(prepared.executeQuery())] == list(range(least + 1, 10))[:most]


def test_what_is_reported_of_parameters(connection: Any) -> None:
    sql = "INSERT INTO every (bigint, decimal, varchar) VALUES (?, ?, ?)"
    with closing(connection.prepareStatement(sql)) as prepared:
        about = prepared.getParameterMetaData()
        assert about.getParameterCount() == 3
        assert [about.getParameterType(at) for at in (1, 2, 3)] == [-5, 3, 12]


def test_a_parameter_that_was_not_set_stops_in_the_driver(connection: Any) -> None:
    prepared = connection.prepareStatement("SELECT value FROM range(3) WHERE value > ?")
    with closing(prepared), pytest.raises(jpype.JException, match="typedValue"):
        prepared.executeQuery()


def test_a_batch_of_every_type(connection: Any) -> None:
    with closing(connection.prepareStatement("INSERT INTO every (bigint, decimal, varchar) VALUES (?, ?, ?)")) as many:
        for number in range(3):
            many.setLong(1, number)
            many.setBigDecimal(2, JAVA("java.math.BigDecimal")(f"{number}.500"))
            many.setString(3, None if number == 1 else str(number))
            many.addBatch()
        many.executeBatch()
    found = ask(connection, "SELECT bigint, decimal, varchar FROM every WHERE bigint IS NOT NULL ORDER BY 1")
    assert [(row[0], Decimal(row[1] or 0), row[2]) for row in found] == [
        ("0", Decimal("0.5"), "0"),
        ("1", Decimal("1.5"), None),
        ("2", Decimal("2.5"), "2"),
    ]
    with closing(connection.createStatement()) as statement:
        statement.execute("DELETE FROM every")
