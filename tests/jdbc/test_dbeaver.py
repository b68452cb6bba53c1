"""What DBeaver does with a generic driver: it connects, opens the tree, shows rows, filters, sorts, edits, cancels.

The calls and texts are those that it makes; the tree has a catalog that nobody can reach.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jpype
import pytest

from tests.flight.serving import Serving, eventually, serving
from tests.jdbc.driver import CLASS, JAVA, connect, labels, properties, texts
from tests.jdbc.test_statements import endless, state_of

pytestmark = pytest.mark.slow

CATALOGS = 20
PAGE = 200
ROWS = 450


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Twenty catalogs, and one at an address where nothing listens."""
    place = tmp_path_factory.mktemp("dbeaver")
    lines = ["[catalogs.dead]", 'type = "iceberg_rest"', 'location = "http://127.0.0.1:1"']
    for number in range(CATALOGS):
        lines += [f"[catalogs.c{number:02}]", 'type = "hadoop"', f'location = "{_made(place, number)}"']
    file = place / "pinakes.toml"
    file.write_text("\n".join(lines))
    with serving("--config", str(file)) as running:
        with running.connect() as connection, connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA sales")
            cursor.execute("CREATE TABLE sales.orders (id BIGINT NOT NULL, Name VARCHAR, PRIMARY KEY (id))")
            cursor.execute(f"INSERT INTO sales.orders SELECT value, 'n' || value FROM range({ROWS})")
        yield running


def _made(place: Path, number: int) -> Path:
    directory = place / f"c{number:02}"
    directory.mkdir()
    return directory


def page(connection: Any, sql: str, most: int = PAGE) -> list[tuple[str | None, ...]]:
    """The data tab: a statement with the size of a page as its limit."""
    with closing(connection.createStatement(1003, 1007)) as statement:
        statement.setMaxRows(most)
        statement.setFetchSize(most)
        assert statement.execute(sql)
        return texts(statement.getResultSet())


def names(result: Any, column: str) -> list[str | None]:
    at = labels(result).index(column) if labels(result) else 0
    return [row[at] for row in texts(result)]


def test_it_connects_as_the_driver_manager_has_it(server: Serving) -> None:
    driver = JAVA(CLASS)()
    url = f"jdbc:arrow-flight-sql://127.0.0.1:{server.port}"
    assert driver.acceptsURL(url)
    offered = {str(offer.name) for offer in driver.getPropertyInfo(url, properties({}))}
    assert "TIME_ZONE" in offered
    assert "useEncryption" not in offered  # the list is that of Avatica: users add those that matter themselves
    with closing(driver.connect(url, properties({"useEncryption": "false", "user": "", "password": ""}))) as connection:
        about = connection.getMetaData()
        assert about.getDatabaseProductName() == "Pinakes"
        assert about.getDriverVersion()
        assert about.getSQLKeywords()
        assert about.getIdentifierQuoteString() == '"'
        for level in (1, 2, 4, 8):
            about.supportsTransactionIsolationLevel(level)
        assert about.supportsResultSetType(1003)
        connection.setAutoCommit(True)
        assert connection.isValid(60)
        assert connection.getWarnings() is None


def test_the_tree_opens_level_by_level(connection: Any) -> None:
    about = connection.getMetaData()
    catalogs = names(about.getCatalogs(), "TABLE_CAT")
    assert catalogs == [*(f"c{number:02}" for number in range(CATALOGS)), "dead", "lake", "system"]
    assert set(names(about.getTableTypes(), "TABLE_TYPE")) == {"TABLE", "VIEW", "SYSTEM TABLE"}
    assert "sales" in names(about.getSchemas("lake", None), "TABLE_SCHEM")
    assert names(about.getTables("lake", "sales", "%", None), "TABLE_NAME") == ["orders"]
    assert names(about.getColumns("lake", "sales", "orders", "%"), "COLUMN_NAME") == ["id", "name"]
    assert names(about.getPrimaryKeys("lake", "sales", "orders"), "COLUMN_NAME") == ["id"]
    assert texts(about.getIndexInfo("lake", "sales", "orders", False, True)) == []
    assert texts(about.getImportedKeys("lake", "sales", "orders")) == []
    assert texts(about.getExportedKeys("lake", "sales", "orders")) == []
    assert texts(about.getProcedures("lake", "sales", None)) == []
    assert texts(about.getFunctions("lake", "sales", None)) == []


def test_the_tree_opens_with_a_catalog_that_is_out_of_reach(connection: Any) -> None:
    """All schemas of all catalogs, as DBeaver asks at first: what can be had is there, and so is the reason."""
    about = connection.getMetaData()
    found = set(names(about.getSchemas(), "TABLE_CATALOG"))
    assert {"lake", "system", "c00", f"c{CATALOGS - 1:02}"} <= found
    assert "orders" in names(about.getTables(None, None, "ord%", None), "TABLE_NAME")
    assert "id" in names(about.getColumns(None, None, "orders", "%"), "COLUMN_NAME")
    assert names(about.getSchemas("dead", None), "TABLE_SCHEM") == ["information_schema"]
    with closing(connection.createStatement()) as statement:
        errors = texts(statement.executeQuery("SELECT DISTINCT catalog_name FROM system.metadata.errors"))
    assert ("dead",) in errors


def test_the_data_tab_turns_pages(connection: Any) -> None:
    first = page(connection, "SELECT x.* FROM lake.sales.orders x")
    assert len(first) == PAGE
    seen = [
        row
        for offset in range(0, ROWS, PAGE)
        for row in page(connection, f"SELECT x.* FROM lake.sales.orders x ORDER BY id LIMIT {PAGE} OFFSET {offset}")
    ]
    assert seen == [(str(number), f"n{number}") for number in range(ROWS)]
    assert page(connection, "SELECT id FROM lake.sales.orders ORDER BY id LIMIT 400, 2") == [("400",), ("401",)]
    assert page(connection, 'SELECT "id" FROM "lake"."sales"."orders" LIMIT 1') != []


def test_a_filter_is_edited(connection: Any) -> None:
    assert page(connection, "SELECT x.* FROM lake.sales.orders x\nWHERE id = 7") == [("7", "n7")]
    query = "SELECT id, name FROM lake.sales.orders -- mine"
    filtered = f"SELECT * FROM (\n{query}\n) z_q WHERE name LIKE 'n44%' AND id > 441"
    assert len(page(connection, filtered)) == 8
    with pytest.raises(jpype.JException, match="COLUMN_NOT_FOUND"):
        page(connection, "SELECT x.* FROM lake.sales.orders x\nWHERE nam = 7")
    assert page(connection, "SELECT x.* FROM lake.sales.orders x\nWHERE id = 8") == [("8", "n8")]


def test_rows_are_sorted(connection: Any) -> None:
    highest = page(connection, "SELECT x.* FROM lake.sales.orders x\nORDER BY x.id DESC", most=2)
    assert highest == [("449", "n449"), ("448", "n448")]
    assert page(connection, "SELECT * FROM (\nSELECT id, name FROM lake.sales.orders\n) z_q ORDER BY 2", most=1) == [
        ("0", "n0")
    ]


def test_rows_are_counted(connection: Any) -> None:
    assert page(connection, "SELECT count(*) FROM lake.sales.orders x") == [(str(ROWS),)]
    assert page(connection, "SELECT COUNT(*) FROM (SELECT * FROM lake.sales.orders) dbvrcnt") == [(str(ROWS),)]


def test_a_cell_is_edited(connection: Any) -> None:
    with closing(connection.prepareStatement("UPDATE lake.sales.orders\n\tSET name=?\n\tWHERE id=?")) as prepared:
        for name in ("edited", "n7"):
            prepared.setString(1, name)
            prepared.setLong(2, 7)
            assert prepared.executeUpdate() == 1
    assert page(connection, "SELECT name FROM lake.sales.orders WHERE id = 7") == [("n7",)]


def test_a_row_is_added_and_removed(connection: Any) -> None:
    with closing(connection.prepareStatement("INSERT INTO lake.sales.orders\n(id, name)\nVALUES(?, ?)")) as prepared:
        prepared.setLong(1, 1000)
        prepared.setNull(2, 12)
        assert prepared.executeUpdate() == 1
    with closing(connection.prepareStatement("DELETE FROM lake.sales.orders\n\tWHERE id=?")) as prepared:
        prepared.setLong(1, 1000)
        assert prepared.executeUpdate() == 1


def test_a_query_is_canceled_and_the_connection_stays(server: Serving, connection_to_cancel: Any) -> None:
    sql = endless("dbeaver")
    failed = threading.Event()
    with closing(connection_to_cancel.createStatement()) as statement:

        def read() -> None:
            result = statement.executeQuery(sql)
            try:
                while result.next():
                    pass
            except jpype.JException:
                failed.set()

        thread = threading.Thread(target=read)
        thread.start()
        assert eventually(lambda: state_of(server, sql) == "RUNNING")
        statement.cancel()
        thread.join(60)
    assert failed.is_set()
    assert eventually(lambda: state_of(server, sql) == "CANCELED")
    assert page(connection_to_cancel, "SELECT 1") == [("1",)]


def test_it_connects_again(server: Serving) -> None:
    """Invalidate/Reconnect, and several connections at a time: one for the tree, one for each editor."""
    connections = [connect(server.port) for _ in range(5)]
    for connection in connections:
        assert page(connection, "SELECT count(*) FROM lake.sales.orders") == [(str(ROWS),)]
        connection.close()
        assert connection.isClosed()
    with closing(connect(server.port)) as again:
        assert page(again, "SELECT 1") == [("1",)]
