"""DatabaseMetaData: no method throws but those that the driver does not have, and the rows are those of system.jdbc."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jpype
import pytest

from tests.flight.serving import Serving, serving
from tests.jdbc.driver import JAVA, ask, labels, texts

pytestmark = pytest.mark.slow

_TODO = "todo: implement this method"
_NO_TABLE = "a table must be named"
_NO_CLASS = "a class must be named"
UNFINISHED = dict.fromkeys(
    "deletesAreDetected insertsAreDetected updatesAreDetected othersDeletesAreVisible othersInsertsAreVisible "
    "othersUpdatesAreVisible ownDeletesAreVisible ownInsertsAreVisible ownUpdatesAreVisible "
    "supportsResultSetHoldability".split(),
    _TODO,
)
"""The driver never asks the server: these throw whatever they are given."""
WITHOUT_NULL = {
    "getCrossReference": _NO_TABLE,
    "getExportedKeys": _NO_TABLE,
    "getImportedKeys": _NO_TABLE,
    "getPrimaryKeys": _NO_TABLE,
    "isWrapperFor": _NO_CLASS,
    "unwrap": _NO_CLASS,
}
"""These throw a NullPointerException when they are given null, as JDBC allows them to."""


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as running:
        with running.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE orders (id BIGINT NOT NULL COMMENT 'its number', day DATE NOT NULL, price DECIMAL(18, 2),"
                " at TIMESTAMP, since TIMESTAMP WITH TIME ZONE, tags ARRAY(VARCHAR), who UUID, PRIMARY KEY (id, day))"
            )
            cursor.execute("CREATE VIEW cheap AS SELECT id FROM orders WHERE price < 1")
            cursor.execute("CREATE SCHEMA outer_one")
            cursor.execute("CREATE TABLE outer_one.x_y (a INTEGER)")
            cursor.execute("CREATE TABLE outer_one.xzy (a INTEGER)")
            cursor.execute('CREATE TABLE outer_one."Mixed Case" ("Ä b" INTEGER)')
        yield running


# --- every method ------------------------------------------------------------------------------------------------


def argument(kind: str, method: str, text: str | None, sensible: bool) -> Any:
    match kind:
        case "java.lang.String":
            return text
        case "int":
            return jpype.JInt(1003 if method.startswith("supportsResultSet") else 1)
        case "boolean":
            return jpype.JBoolean(True)
        case "[Ljava.lang.String;":
            return jpype.JArray(jpype.JString)(["TABLE", "VIEW"]) if sensible else None
        case "[I":
            return jpype.JArray(jpype.JInt)([2001]) if sensible else None
        case "java.lang.Class":
            return JAVA("java.sql.DatabaseMetaData").class_ if sensible else None
    raise AssertionError(kind)


def thrown(about: Any, text: str | None) -> set[str]:
    """The names of the methods that throw when every text they take is this one."""
    failed = set()
    methods = JAVA("java.sql.DatabaseMetaData").class_.getMethods()
    for method in methods:
        name = str(method.getName())
        kinds = [str(kind.getName()) for kind in method.getParameterTypes()]
        given = [argument(kind, name, text, text is not None) for kind in kinds]
        try:
            found = method.invoke(about, jpype.JArray(jpype.JObject)(given))
        except jpype.JException:
            failed.add(name)
            continue
        if isinstance(found, JAVA("java.sql.ResultSet")):
            texts(found)
    assert len(methods) > 170
    return failed


@pytest.mark.parametrize("text", ["orders", "lake", "", "%", "no such thing", "'; --\\%_"])
def test_no_method_throws(connection: Any, text: str) -> None:
    assert thrown(connection.getMetaData(), text) == set(UNFINISHED)


def test_no_method_throws_without_arguments(connection: Any) -> None:
    assert thrown(connection.getMetaData(), None) == {*UNFINISHED, *WITHOUT_NULL}


# --- the rows ----------------------------------------------------------------------------------------------------


def rows_of(result: Any, *columns: str) -> list[tuple[str | None, ...]]:
    """Of a result without rows the driver does not tell the columns."""
    if not labels(result):
        assert texts(result) == []
        return []
    places = [labels(result).index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in texts(result)]


def test_catalogs(connection: Any) -> None:
    found = rows_of(connection.getMetaData().getCatalogs(), "TABLE_CAT")
    assert found == ask(connection, "SELECT table_cat FROM system.jdbc.catalogs ORDER BY 1") == [("lake",), ("system",)]


def test_schemas(connection: Any) -> None:
    about = connection.getMetaData()
    told = ask(connection, "SELECT table_catalog, table_schem FROM system.jdbc.schemas ORDER BY 1, 2")
    assert rows_of(about.getSchemas(), "TABLE_CATALOG", "TABLE_SCHEM") == told
    assert rows_of(about.getSchemas(None, None), "TABLE_CATALOG", "TABLE_SCHEM") == told
    assert rows_of(about.getSchemas("lake", "out%"), "TABLE_SCHEM") == [("outer_one",)]
    assert rows_of(about.getSchemas("nowhere", None), "TABLE_SCHEM") == []


def test_tables(connection: Any) -> None:
    about = connection.getMetaData()
    columns = ("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE")
    told = ask(connection, f"SELECT {', '.join(columns)} FROM system.jdbc.tables ORDER BY 4, 1, 2, 3")
    assert sorted(rows_of(about.getTables(None, None, "%", None), *columns)) == sorted(told)
    assert sorted(rows_of(about.getTables(None, None, None, None), *columns)) == sorted(told)


@pytest.mark.parametrize(
    ("schema", "name", "types", "found"),
    [
        ("default", "%", None, {"orders", "cheap"}),
        ("default", "%", ["VIEW"], {"cheap"}),
        ("default", "%", ["TABLE"], {"orders"}),
        ("default", "%", ["GLOBAL TEMPORARY"], set()),
        ("outer_one", "x_y", None, {"x_y", "xzy"}),
        ("outer_one", "x\\_y", None, {"x_y"}),
        ("outer_one", "Mixed Case", None, {"Mixed Case"}),
        ("outer_one", "mixed%", None, set()),
    ],
)
def test_tables_by_pattern(connection: Any, schema: str, name: str, types: list[str] | None, found: set[str]) -> None:
    given = None if types is None else jpype.JArray(jpype.JString)(types)
    rows = rows_of(connection.getMetaData().getTables("lake", schema, name, given), "TABLE_NAME")
    assert {row[0] for row in rows} == found


def test_table_types(connection: Any) -> None:
    found = rows_of(connection.getMetaData().getTableTypes(), "TABLE_TYPE")
    assert found == ask(connection, "SELECT table_type FROM system.jdbc.table_types ORDER BY 1")


def test_columns(connection: Any) -> None:
    about = connection.getMetaData()
    columns = ("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION", "TYPE_NAME", "NULLABLE")
    told = ask(
        connection,
        f"SELECT {', '.join(columns)} FROM system.jdbc.columns WHERE table_cat = 'lake' "
        "AND table_schem IN ('default', 'outer_one') ORDER BY 1, 2, 3, 5",
    )
    own = [row for row in rows_of(about.getColumns("lake", "%", "%", "%"), *columns) if row[1] != "information_schema"]
    assert len(own) == 11
    assert sorted(own, key=str) == sorted(told, key=str)


def test_what_is_reported_of_a_column(connection: Any) -> None:
    found = rows_of(
        connection.getMetaData().getColumns("lake", "default", "orders", "%"),
        "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "REMARKS",
    )  # fmt: skip
    assert found == [
        ("id", "-5", "bigint", "19", "0", "NO", "its number"),
        ("day", "91", "date", "10", "0", "NO", None),
        ("price", "3", "decimal(18,2)", "18", "2", "YES", None),
        ("at", "93", "timestamp(6)", "26", "6", "YES", None),
        ("since", "93", "timestamp(6) with time zone", "32", "6", "YES", None),
        ("tags", "2003", "array(varchar)", None, None, "YES", None),
        ("who", "12", "uuid", "65536", None, "YES", None),
    ]


def test_columns_by_pattern(connection: Any) -> None:
    about = connection.getMetaData()
    assert rows_of(about.getColumns("lake", "default", "orders", "s%"), "COLUMN_NAME") == [("since",)]
    assert rows_of(about.getColumns("lake", "outer_one", "Mixed Case", "Ä _"), "COLUMN_NAME") == [("Ä b",)]


def test_primary_keys(connection: Any) -> None:
    about = connection.getMetaData()
    found = rows_of(
        about.getPrimaryKeys("lake", "default", "orders"), "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ", "PK_NAME"
    )
    told = ask(
        connection,
        "SELECT table_name, column_name, ordinal_position, constraint_name FROM information_schema.key_column_usage "
        "WHERE table_catalog = 'lake' ORDER BY 3",
    )
    assert found == told
    assert [row[1] for row in found] == ["id", "day"]
    assert rows_of(about.getPrimaryKeys("lake", "outer_one", "x_y"), "COLUMN_NAME") == []


def test_there_are_no_foreign_keys(connection: Any) -> None:
    about = connection.getMetaData()
    for result in (
        about.getImportedKeys("lake", "default", "orders"),
        about.getExportedKeys("lake", "default", "orders"),
        about.getCrossReference("lake", "default", "orders", "lake", "outer_one", "xzy"),
    ):
        assert texts(result) == []


def test_the_driver_does_not_ask_for_types(connection: Any) -> None:
    """The server knows them (GetXdbcTypeInfo); 18.3 has an empty answer of its own."""
    assert texts(connection.getMetaData().getTypeInfo()) == []
    assert int(ask(connection, "SELECT count(*) FROM system.jdbc.types")[0][0] or 0) > 10


def test_what_the_server_says_of_itself(connection: Any) -> None:
    from pinakes import __version__

    about = connection.getMetaData()
    assert (about.getDatabaseProductName(), about.getDatabaseProductVersion()) == ("Pinakes", __version__)
    assert about.getIdentifierQuoteString() == '"'
    assert about.getCatalogSeparator() == "."
    assert about.isCatalogAtStart()
    assert about.supportsCatalogsInDataManipulation()
    assert about.supportsSchemasInDataManipulation()
    assert not about.supportsTransactions()  # of the driver's own: tests/jdbc/test_statements.py
    assert about.getDefaultTransactionIsolation() == 0
    assert "substring" in about.getStringFunctions()
    assert "SELECT" in about.getSQLKeywords()
