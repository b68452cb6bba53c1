"""What an ADBC client asks of the metadata: the same objects that the system tables tell, narrowed the same way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import adbc_driver_flightsql.dbapi as adbc
import pytest

from tests.flight.serving import Serving, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as running:
        with running.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE orders (id BIGINT NOT NULL COMMENT 'its number', price DECIMAL(18, 2), at TIMESTAMP, "
                "tags ARRAY(VARCHAR), PRIMARY KEY (id))"
            )
            cursor.execute("CREATE VIEW cheap AS SELECT id FROM orders WHERE price < 1")
            cursor.execute("CREATE SCHEMA outer_one")
            cursor.execute("CREATE TABLE outer_one.x_y (a INTEGER)")
            cursor.execute("CREATE TABLE outer_one.xzy (a INTEGER)")
        yield running


def objects(connection: adbc.Connection, depth: str, **filters: Any) -> list[tuple[str, ...]]:
    """The paths to the deepest things that were found."""
    found: list[tuple[str, ...]] = []
    for catalog in connection.adbc_get_objects(depth=depth, **filters).read_all().to_pylist():  # type: ignore[arg-type]
        path = (catalog["catalog_name"],)
        if catalog["catalog_db_schemas"] is None:
            found.append(path)
        for schema in catalog["catalog_db_schemas"] or ():
            found += _in_schema((*path, schema["db_schema_name"]), schema)
    return found


def _in_schema(path: tuple[str, ...], schema: dict[str, Any]) -> list[tuple[str, ...]]:
    if schema["db_schema_tables"] is None:
        return [path]
    found: list[tuple[str, ...]] = []
    for table in schema["db_schema_tables"]:
        here = (*path, table["table_name"], table["table_type"])
        columns = table["table_columns"]
        found += [here] if columns is None else [(*here, c["column_name"]) for c in columns]
    return found


def test_catalogs(connection: adbc.Connection) -> None:
    assert objects(connection, "catalogs") == [("lake",), ("system",)]


def test_schemas(connection: adbc.Connection) -> None:
    assert objects(connection, "db_schemas", catalog_filter="lake") == [
        ("lake", "default"),
        ("lake", "information_schema"),
        ("lake", "outer_one"),
    ]
    assert objects(connection, "db_schemas", catalog_filter="lake", db_schema_filter="%er_one") == [
        ("lake", "outer_one")
    ]


def test_tables_and_their_types(connection: adbc.Connection) -> None:
    narrowed = {"catalog_filter": "lake", "db_schema_filter": "default"}
    assert objects(connection, "tables", **narrowed) == [
        ("lake", "default", "cheap", "VIEW"),
        ("lake", "default", "orders", "TABLE"),
    ]
    assert objects(connection, "tables", **narrowed, table_types_filter=["VIEW"]) == [
        ("lake", "default", "cheap", "VIEW")
    ]
    assert objects(connection, "tables", **narrowed, table_name_filter="ord%") == [
        ("lake", "default", "orders", "TABLE")
    ]


def test_tables_of_all_catalogs(connection: adbc.Connection) -> None:
    found = objects(connection, "tables")
    assert ("system", "runtime", "queries", "SYSTEM TABLE") in found
    assert ("lake", "outer_one", "x_y", "TABLE") in found


def test_columns(connection: adbc.Connection) -> None:
    found = objects(connection, "all", catalog_filter="lake", db_schema_filter="default", table_name_filter="orders")
    assert [path[-1] for path in found] == ["id", "price", "at", "tags"]


def test_wildcards_can_be_escaped(connection: adbc.Connection) -> None:
    narrowed = {"catalog_filter": "lake", "db_schema_filter": "outer_one"}
    assert len(objects(connection, "tables", **narrowed, table_name_filter="x_y")) == 2
    assert len(objects(connection, "tables", **narrowed, table_name_filter=r"x\_y")) == 1


def test_a_catalog_that_is_not_there_is_empty(connection: adbc.Connection) -> None:
    assert objects(connection, "db_schemas", catalog_filter="nowhere") == []


def test_what_drivers_read_of_a_column(connection: adbc.Connection) -> None:
    schema = connection.adbc_get_table_schema("orders", catalog_filter="lake", db_schema_filter="default")
    told = {f.name: {k.decode().rpartition(":")[2]: v.decode() for k, v in f.metadata.items()} for f in schema}
    assert told["id"]["TYPE_NAME"] == "bigint"
    assert told["id"]["REMARKS"] == "its number"
    assert (told["price"]["TYPE_NAME"], told["price"]["PRECISION"], told["price"]["SCALE"]) == (
        "decimal(18,2)",
        "18",
        "2",
    )
    assert told["tags"]["TYPE_NAME"] == "array(varchar)"
    assert (told["at"]["CATALOG_NAME"], told["at"]["DB_SCHEMA_NAME"], told["at"]["TABLE_NAME"]) == (
        "lake",
        "default",
        "orders",
    )
    assert not schema.field("id").nullable
    assert schema.field("price").nullable


def test_the_schema_of_a_table_is_that_of_its_rows(connection: adbc.Connection) -> None:
    schema = connection.adbc_get_table_schema("orders", catalog_filter="lake", db_schema_filter="default")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM orders")
        assert cursor.fetch_arrow_table().schema.types == schema.types


def test_a_table_that_is_not_there(connection: adbc.Connection) -> None:
    with pytest.raises(adbc.Error):
        connection.adbc_get_table_schema("nowhere")


def test_table_types(connection: adbc.Connection) -> None:
    assert connection.adbc_get_table_types() == ["SYSTEM TABLE", "TABLE", "VIEW"]


def test_the_server_says_who_it_is(connection: adbc.Connection) -> None:
    told = connection.adbc_get_info()
    assert told["vendor_name"] == "Pinakes"
    assert told["vendor_version"]


def test_metadata_and_system_tables_agree(connection: adbc.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_cat, table_schem, table_name, table_type FROM system.jdbc.tables ORDER BY 1, 2, 3")
        rows = cursor.fetchall()
    assert sorted(objects(connection, "tables")) == rows


def test_questions_are_in_the_tracker(connection: adbc.Connection) -> None:
    connection.adbc_get_table_types()
    objects(connection, "db_schemas", catalog_filter="lake")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) > 0 FROM system.runtime.queries WHERE query = 'GetDbSchemas' AND state = 'FINISHED'"
        )
        assert cursor.fetchone() == (True,)
