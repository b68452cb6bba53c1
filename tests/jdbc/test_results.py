"""ResultSet: every type is read right, by getObject, getString and its own getter, and described right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import pytest

from tests.flight.serving import Serving
from tests.jdbc.driver import JAVA, ask, connect, do, labels, texts

pytestmark = pytest.mark.slow


class Read(NamedTuple):
    """How a value comes: its text, its java.sql.Types and their name, precision, scale; the text of its object."""

    text: str | None
    code: int
    name: str
    precision: int
    scale: int
    object: str


@contextmanager
def first_row(connection: Any, expression: str) -> Iterator[Any]:
    with (
        closing(connection.createStatement()) as statement,
        closing(statement.executeQuery(f"SELECT {expression} AS x")) as result,
    ):
        assert result.next()
        yield result


def read(connection: Any, expression: str) -> Read:
    with first_row(connection, expression) as result:
        about = result.getMetaData()
        text, read_as_object = result.getString(1), str(result.getObject(1))
        assert not result.wasNull()
        told = (about.getColumnType(1), about.getColumnTypeName(1), about.getPrecision(1), about.getScale(1))
        return Read(text, *told, read_as_object)


ANY_LENGTH = 2147483647
INTEGERS = {
    "CAST(7 AS TINYINT)": ("7", -6, "TINYINT", 3, 0),
    "CAST(-7 AS SMALLINT)": ("-7", 5, "SMALLINT", 5, 0),
    "CAST(7 AS INTEGER)": ("7", 4, "INTEGER", 10, 0),
    "9223372036854775807": ("9223372036854775807", -5, "BIGINT", 19, 0),
    "arrow_cast(200, 'UInt8')": ("200", 5, "SMALLINT", 5, 0),
    "arrow_cast(65535, 'UInt16')": ("65535", 4, "INTEGER", 10, 0),
    "arrow_cast(4294967295, 'UInt32')": ("4294967295", -5, "BIGINT", 19, 0),
    "arrow_cast('18446744073709551615', 'UInt64')": ("18446744073709551615", 3, "DECIMAL", 20, 0),
}
NUMBERS = {
    "CAST(1.5 AS REAL)": ("1.5", 6, "FLOAT", 24, 0),
    "arrow_cast(1.5, 'Float16')": ("1.5", 6, "FLOAT", 24, 0),
    "CAST(-2.25 AS DOUBLE)": ("-2.25", 8, "DOUBLE", 53, 0),
    "CAST('123456789.123456789' AS DECIMAL(38, 9))": ("123456789.123456789", 3, "DECIMAL", 38, 9),
    "CAST(-0.05 AS DECIMAL(4, 2))": ("-0.05", 3, "DECIMAL", 4, 2),
    "arrow_cast(1.25, 'Decimal32(5, 2)')": ("1.25", 3, "DECIMAL", 5, 2),
    "arrow_cast(1.25, 'Decimal256(60, 2)')": ("1.25", 3, "DECIMAL", 60, 2),
}
TEXTS = {
    "'ä''\"𝄞'": ("ä'\"𝄞", 12, "VARCHAR", ANY_LENGTH, 0),
    "''": ("", 12, "VARCHAR", ANY_LENGTH, 0),
    "arrow_cast('view', 'Utf8View')": ("view", 12, "VARCHAR", ANY_LENGTH, 0),
    "arrow_cast('large', 'LargeUtf8')": ("large", -1, "LONGVARCHAR", ANY_LENGTH, 0),
    "arrow_cast('word', 'Dictionary(Int32, Utf8)')": ("word", 12, "VARCHAR", ANY_LENGTH, 0),
}
TIMES = {
    "DATE '2024-02-29'": ("2024-02-29", 91, "DATE", 10, 0),
    "DATE '1900-01-01'": ("1900-01-01", 91, "DATE", 10, 0),
    "TIME '12:34:56.789'": ("12:34:56.789", 92, "TIME", 15, 6),
    "TIMESTAMP '2024-07-01 12:34:56.789123'": ("2024-07-01 12:34:56.789123", 93, "TIMESTAMP", 26, 6),
    "TIMESTAMP '1900-01-01 00:00:00'": ("1900-01-01 00:00:00.0", 93, "TIMESTAMP", 26, 6),
    "TIMESTAMP '2024-07-01 12:34:56+02:00'": ("2024-07-01 12:34:56.0", 93, "TIMESTAMP", 26, 6),
}
NESTED = {
    "ARRAY[1, 2, NULL]": ("[1,2,null]", 2003, "ARRAY", 0, 0),
    "ARRAY[ARRAY['a'], ARRAY['b', 'c']]": ('[["a"],["b","c"]]', 2003, "ARRAY", 0, 0),
    "MAP(ARRAY['a', 'b'], ARRAY[1, 2])": ('{"a":1,"b":2}', 2000, "JAVA_OBJECT", 0, 0),
    "named_struct('a', 1, 'b', 'x')": ('{"a":1,"b":"x"}', 2000, "JAVA_OBJECT", 0, 0),
    "named_struct('a', arrow_cast('v', 'Utf8View'))": ('{"a":"v"}', 2000, "JAVA_OBJECT", 0, 0),
    "ARRAY[arrow_cast(200, 'UInt8')]": ("[200]", 2003, "ARRAY", 0, 0),
}


@pytest.mark.parametrize(("expression", "expected"), (INTEGERS | NUMBERS | TEXTS | TIMES | NESTED).items())
def test_every_type(connection: Any, expression: str, expected: tuple[Any, ...]) -> None:
    assert read(connection, expression) == Read(*expected, object=expected[0])


def test_truth(connection: Any) -> None:
    assert read(connection, "1 = 1") == Read("true", 16, "BOOLEAN", 0, 0, "True")


def test_bytes(connection: Any) -> None:
    with first_row(connection, "X'00FF10'") as result:
        assert bytes(result.getBytes(1)) == bytes(result.getObject(1)) == b"\x00\xff\x10"
        assert result.getMetaData().getColumnType(1) == -3


def test_intervals(connection: Any) -> None:
    assert ask(connection, "SELECT INTERVAL '3' DAY") == [("P3D",)]


@pytest.mark.parametrize("kind", "BOOLEAN INTEGER BIGINT DOUBLE DECIMAL(9,2) VARCHAR BYTEA DATE TIME TIMESTAMP".split())
def test_null_of_every_type(connection: Any, kind: str) -> None:
    with first_row(connection, f"CAST(NULL AS {kind})") as result:
        assert (result.getObject(1), result.wasNull()) == (None, True)
        assert (result.getString(1), result.wasNull()) == (None, True)
    with first_row(connection, "NULL") as result:
        assert (result.getObject(1), result.getString(1)) == (None, None)


def test_a_number_by_every_getter(connection: Any) -> None:
    with first_row(connection, "42") as result:
        for getter in "getByte getShort getInt getLong getFloat getDouble".split():
            assert getattr(result, getter)(1) == 42
        assert str(result.getBigDecimal(1)) == "42"
        assert result.getBoolean(1)
        assert result.getLong("x") == 42


def test_elements_of_an_array(connection: Any) -> None:
    with first_row(connection, "ARRAY['a', 'b']") as result:
        assert [str(element) for element in result.getArray(1).getArray()] == ["a", "b"]


def test_times_by_their_getters(connection: Any) -> None:
    with first_row(connection, "TIMESTAMP '2024-07-01 12:34:56.789123'") as result:
        assert str(result.getTimestamp(1)) == "2024-07-01 12:34:56.789123"
        assert (str(result.getDate(1)), str(result.getTime(1))) == ("2024-07-01", "12:34:56")
    with first_row(connection, "DATE '2024-02-29'") as result:
        assert str(result.getDate(1)) == "2024-02-29"
    with first_row(connection, "TIME '01:02:03.456'") as result:
        assert str(result.getTime(1)) == "01:02:03.456"


def test_the_driver_moves_times_unless_the_jvm_is_in_utc(server: Serving) -> None:
    """The driver's arithmetic goes the wrong way, and no property corrects both: docs/how-to/connect-dbeaver.md."""
    zones = JAVA("java.util.TimeZone")
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone("America/New_York"))
    try:
        with closing(connect(server.port)) as connection:
            assert read(connection, "TIMESTAMP '2024-07-01 12:00:00'").object == "2024-07-01 16:00:00.0"
            assert read(connection, "TIME '12:00:00'").text == "07:00:00"
        with closing(connect(server.port, timeZone="UTC")) as connection:
            assert read(connection, "TIMESTAMP '2024-07-01 12:00:00'").object == "2024-07-01 12:00:00.0"
            assert read(connection, "DATE '2024-02-29'").object == "2024-02-28"
    finally:
        zones.setDefault(before)


def test_the_columns_of_a_table(connection: Any) -> None:
    do(
        connection,
        'CREATE TABLE typed (id BIGINT NOT NULL, u UUID, b BINARY(3), "Ä x" VARCHAR, '
        "ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE, tm TIME, de DECIMAL(5, 2))",
        "INSERT INTO typed VALUES (1, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', X'010203', 'q', TIMESTAMP '2024-07-01 "
        "12:34:56.789123', TIMESTAMPTZ '2024-07-01 12:34:56+02:00', TIME '01:02:03.456', 1.25)",
    )
    with closing(connection.createStatement()) as statement:
        result = statement.executeQuery('SELECT id AS "My id", * FROM typed')
        about = result.getMetaData()
        columns = range(1, about.getColumnCount() + 1)
        assert labels(result) == ["My id", "id", "u", "b", "Ä x", "ts", "tz", "tm", "de"]
        sizes = [(about.getColumnTypeName(at), about.getPrecision(at), about.getScale(at)) for at in columns[1:]]
        assert sizes == [
            ("BIGINT", 19, 0),
            ("VARCHAR", ANY_LENGTH, 0),
            ("BINARY", 3, 0),
            ("VARCHAR", ANY_LENGTH, 0),
            ("TIMESTAMP", 26, 6),
            ("TIMESTAMP", 32, 6),
            ("TIME", 15, 6),
            ("DECIMAL", 5, 2),
        ]
        # The driver does not look: it says columnNoNulls of every column of a result. getColumns tells.
        assert {about.isNullable(at) for at in columns} == {0}
        assert texts(result)[0][2:] == (
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "\x01\x02\x03",
            "q",
            "2024-07-01 12:34:56.789123",
            "2024-07-01 10:34:56.0",
            "01:02:03.456",
            "1.25",
        )


def test_an_empty_result_has_its_columns(connection: Any) -> None:
    with closing(connection.prepareStatement("SELECT 1 AS x, 'a' AS y WHERE 1 = 0")) as prepared:
        assert labels(prepared) == ["x", "y"]
        with closing(prepared.executeQuery()) as result:
            assert not result.next()
    with closing(connection.createStatement()) as statement:
        assert texts(statement.executeQuery("SELECT 1 AS x, 'a' AS y WHERE 1 = 0")) == []


def test_many_rows(connection: Any) -> None:
    with closing(connection.createStatement()) as statement:
        result = statement.executeQuery("SELECT value, value::varchar FROM range(50000) ORDER BY 1")
        assert all(result.next() and result.getLong(1) == number for number in range(50000))
        assert result.getString(2) == "49999"
        assert not result.next()
        result.close()
