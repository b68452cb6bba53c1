"""The SQLite store: the two tables of Java's JdbcCatalog, in a file that pyiceberg's SqlCatalog opens as well."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeVar

from pinakes.core.errors import DataCorrupt, NotSupportedError
from pinakes.providers.sql_catalog.sqlite_connection import SqliteConnection
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow

T = TypeVar("T")

_TABLES = """
CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
)"""
_PROPERTIES = """
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
)"""
_TABLE_NAMES = """
SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('iceberg_tables', 'iceberg_namespace_properties')"""
_CATALOG_NAMES = """
SELECT catalog_name FROM iceberg_tables UNION SELECT catalog_name FROM iceberg_namespace_properties ORDER BY 1"""
_NAMESPACES = """
SELECT table_namespace AS n FROM iceberg_tables WHERE catalog_name = ?1 AND {tables}
UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND {properties} ORDER BY 1"""
_KEY = "catalog_name = ? AND table_namespace = ? AND table_name = ?"


def stored_catalog_names(connection: SqliteConnection) -> list[str]:
    """The catalog names that rows of this file carry; none in a file without our tables."""
    if len(connection.read(_TABLE_NAMES)) < 2:
        return []
    return [str(name) for (name,) in connection.read(_CATALOG_NAMES)]


class SqliteStore:
    """A CatalogStore in one SQLite file."""

    def __init__(self, connection: SqliteConnection, catalog_name: str) -> None:
        self._connection = connection
        self._catalog_name = catalog_name
        self._holds_views = True

    @classmethod
    def open(cls, path: Path, catalog_name: str) -> SqliteStore:
        """A store on its own connection, ready for use."""
        store = cls(SqliteConnection(path), catalog_name)
        store.initialize()
        return store

    @property
    def catalog_name(self) -> str:
        return self._catalog_name

    @property
    def holds_views(self) -> bool:
        return self._holds_views

    def initialize(self) -> None:
        if len(self._connection.read(_TABLE_NAMES)) < 2:
            self._connection.run_in_transaction(self._create_tables)
        self._holds_views = self._has_type()

    def upgrade(self) -> None:
        self._connection.run_in_transaction(self._add_type)
        self._holds_views = True

    def close(self) -> None:
        self._connection.close()

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        return self._connection.run_in_transaction(body)

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        values: tuple[str, ...] = (self._catalog_name, key.namespace, key.name, metadata_location)
        if self._holds_views:
            columns, values = f"{columns}, iceberg_type", (*values, kind)
        elif kind == "VIEW":
            raise NotSupportedError(
                f"{self._connection.path} has the older schema (V0), which can't hold views. "
                f"Attach it with the option UPGRADE true to add the column that tells them from tables."
            )
        marks = ", ".join("?" * len(values))
        self._connection.write(f"INSERT INTO iceberg_tables ({columns}) VALUES ({marks})", values)

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        columns = "metadata_location, previous_metadata_location"
        sql = f"SELECT {columns} FROM iceberg_tables WHERE {_KEY} AND {self._is(kind)}"
        rows = self._connection.read(sql, self._values(key))
        return ObjectRow(key, kind, rows[0][0], rows[0][1]) if rows else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        sql = f"""SELECT table_name FROM iceberg_tables
                  WHERE catalog_name = ? AND table_namespace = ? AND {self._is(kind)} ORDER BY table_name"""
        return [str(name) for (name,) in self._connection.read(sql, (self._catalog_name, namespace))]

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        is_view = f"CASE WHEN {self._is('VIEW')} THEN 'VIEW' ELSE 'TABLE' END"
        sql = f"""SELECT table_namespace, table_name, {is_view} FROM iceberg_tables
                  WHERE catalog_name = ? AND ({self._is("TABLE")} OR {self._is("VIEW")}) ORDER BY 1, 2"""
        rows = self._connection.read(sql, (self._catalog_name,))
        return [(ObjectKey(str(ns), str(name)), "VIEW" if kind == "VIEW" else "TABLE") for ns, name, kind in rows]

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        sql = f"UPDATE iceberg_tables SET table_namespace = ?, table_name = ? WHERE {_KEY} AND {self._is(kind)}"
        return self._connection.write(sql, (target.namespace, target.name, *self._values(source)))

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        sql = f"DELETE FROM iceberg_tables WHERE {_KEY} AND {self._is(kind)}"
        return self._connection.write(sql, self._values(key))

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        sql = f"""UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
                  WHERE {_KEY} AND metadata_location = ? AND {self._is(kind)}"""
        return self._connection.write(sql, (new, expected, *self._values(key), expected))

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        where = f"({{0}} = ?2 OR {_below('{0}', '?2')})"
        sql = _NAMESPACES.format(tables=where.format("table_namespace"), properties=where.format("namespace"))
        return bool(self._connection.read(f"{sql} LIMIT 1", (self._catalog_name, namespace)))

    def list_namespaces(self, under: str = "") -> list[str]:
        where = _below("{0}", "?2") if under else "{0} <> ?2"
        sql = _NAMESPACES.format(tables=where.format("table_namespace"), properties=where.format("namespace"))
        return [str(name) for (name,) in self._connection.read(sql, (self._catalog_name, under))]

    def get_namespace_properties(self, namespace: str) -> dict[str, str]:
        sql = """SELECT property_key, property_value FROM iceberg_namespace_properties
                 WHERE catalog_name = ? AND namespace = ? AND property_key IS NOT NULL ORDER BY property_key"""
        rows = self._connection.read(sql, (self._catalog_name, namespace))
        return {str(key): value or "" for key, value in rows}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        columns = "catalog_name, namespace, property_key, property_value"
        sql = f"INSERT INTO iceberg_namespace_properties ({columns}) VALUES (?, ?, ?, ?)"
        self._connection.write(sql, (self._catalog_name, namespace, key, value))

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        def replace() -> None:
            self.remove_namespace_properties(namespace, properties)
            for key, value in properties.items():
                self.insert_namespace_property(namespace, key, value)

        self.run_in_transaction(replace)

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        sql = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"
        values = (self._catalog_name, namespace)
        if keys is None:
            return self._connection.write(sql, values)
        delete = f"{sql} AND property_key = ?"
        return self.run_in_transaction(lambda: sum(self._connection.write(delete, (*values, key)) for key in keys))

    # --- the schema ----------------------------------------------------------------------------------------------

    def _values(self, key: ObjectKey) -> tuple[str, str, str]:
        return self._catalog_name, key.namespace, key.name

    def _is(self, kind: Kind) -> str:
        """The condition for rows of a kind. Without the column all rows are tables."""
        if not self._holds_views:
            return "TRUE" if kind == "TABLE" else "FALSE"
        return "iceberg_type = 'VIEW'" if kind == "VIEW" else "(iceberg_type = 'TABLE' OR iceberg_type IS NULL)"

    def _has_type(self) -> bool:
        columns = {name for (name,) in self._connection.read("SELECT name FROM pragma_table_info('iceberg_tables')")}
        if "metadata_location" not in columns:
            raise DataCorrupt(
                f"{self._connection.path} has a table iceberg_tables that is not an Iceberg catalog's: "
                f"it has no column metadata_location"
            )
        return "iceberg_type" in columns

    def _create_tables(self) -> None:
        self._connection.write(_TABLES)
        self._connection.write(_PROPERTIES)

    def _add_type(self) -> None:
        if not self._has_type():
            self._connection.write("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)")


def _below(column: str, value: str) -> str:
    """Whether a namespace is below another, exactly: LIKE would ignore case. '/' is the character after '.'."""
    return f"({column} > {value} || '.' AND {column} < {value} || '/')"
