"""The CatalogStore in SQL: the two tables of Java's JdbcCatalog, in any `Database`.

The differences between databases are in `database.py`: how names are compared exactly, and the schema. Sorting and
removing duplicates is done here, because databases have their own rules for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar, cast

from pinakes.core.errors import DataCorrupt, InvalidArgument, NotSupportedError
from pinakes.providers.sql_catalog.database import OBJECTS, PROPERTIES, Database, columns_of
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow, StoreRows

T = TypeVar("T")


class SqlStore:
    """A CatalogStore in a database."""

    def __init__(self, database: Database, catalog_name: str) -> None:
        self._database = database
        self._catalog_name = catalog_name
        self._holds_views = True

    @property
    def catalog_name(self) -> str:
        return self._catalog_name

    @property
    def holds_views(self) -> bool:
        return self._holds_views

    def initialize(self) -> None:
        self._fits(catalog_name=self._catalog_name)
        if len(columns_of(self._database)) < 2:
            self._database.define(self._create_tables)
        self._holds_views = self._has_type()

    def upgrade(self) -> None:
        self._database.define(self._add_type)
        self._holds_views = True

    def close(self) -> None:
        self._database.close()

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        return self._database.run_in_transaction(body)

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        self.check_object(kind, key)
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        values: tuple[str, ...] = (self._catalog_name, key.namespace, key.name, metadata_location)
        if self._holds_views:
            columns, values = f"{columns}, iceberg_type", (*values, kind)
        marks = ", ".join("?" * len(values))
        self._database.write(f"INSERT INTO {OBJECTS} ({columns}) VALUES ({marks})", values)

    def check_object(self, kind: Kind, key: ObjectKey) -> None:
        self._fits(namespace=key.namespace, name=key.name)
        if kind == "VIEW" and not self._holds_views:
            raise NotSupportedError(
                f"{self._database.place} has the older schema (V0), which can't hold views. "
                f"Attach it with the option UPGRADE true to add the column that distinguishes them from tables."
            )

    def read_rows(self) -> StoreRows:
        """Reads all rows in one query, which sees one state at any isolation level."""
        mine, kind = self._database.dialect.is_("catalog_name"), "iceberg_type" if self._holds_views else "NULL"
        sql = f"""SELECT 'object', table_namespace, table_name, metadata_location, previous_metadata_location, {kind}
                  FROM {OBJECTS} WHERE {mine}
                  UNION ALL SELECT 'property', namespace, property_key, property_value, NULL, NULL
                  FROM {PROPERTIES} WHERE {mine} AND property_key IS NOT NULL"""
        found = StoreRows({}, {})
        for what, namespace, name, value, previous, stored in self._database.read(sql, (self._catalog_name,) * 2):
            if what == "property":
                found.properties[str(namespace), str(name)] = value or ""
            else:
                key = ObjectKey(str(namespace), str(name))
                found.objects[key] = ObjectRow(key, cast("Kind", stored or "TABLE"), value, previous)
        return found

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        columns = "metadata_location, previous_metadata_location"
        sql = f"SELECT {columns} FROM {OBJECTS} WHERE {self._key()} AND {self._is(kind)}"
        rows = self._database.read(sql, self._values(key))
        return ObjectRow(key, kind, rows[0][0], rows[0][1]) if rows else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        where = self._database.dialect.is_("catalog_name", "table_namespace")
        sql = f"SELECT table_name FROM {OBJECTS} WHERE {where} AND {self._is(kind)}"
        return sorted(str(name) for (name,) in self._database.read(sql, (self._catalog_name, namespace)))

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        is_view = f"CASE WHEN {self._is('VIEW')} THEN 'VIEW' ELSE 'TABLE' END"
        sql = f"""SELECT table_namespace, table_name, {is_view} FROM {OBJECTS}
                  WHERE {self._database.dialect.is_("catalog_name")} AND ({self._is("TABLE")} OR {self._is("VIEW")})"""
        rows = sorted((str(ns), str(name), kind) for ns, name, kind in self._database.read(sql, (self._catalog_name,)))
        return [(ObjectKey(ns, name), "VIEW" if kind == "VIEW" else "TABLE") for ns, name, kind in rows]

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        self._fits(namespace=target.namespace, name=target.name)
        sql = f"UPDATE {OBJECTS} SET table_namespace = ?, table_name = ? WHERE {self._key()} AND {self._is(kind)}"
        return self._database.write(sql, (target.namespace, target.name, *self._values(source)))

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        return self._database.write(
            f"DELETE FROM {OBJECTS} WHERE {self._key()} AND {self._is(kind)}", self._values(key)
        )

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        where = f"{self._key()} AND {self._database.dialect.is_('metadata_location')} AND {self._is(kind)}"
        sql = f"UPDATE {OBJECTS} SET metadata_location = ?, previous_metadata_location = ? WHERE {where}"
        return self._database.write(sql, (new, expected, *self._values(key), expected))

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        dialect = self._database.dialect
        values = (namespace, *_bounds(namespace))
        return bool(self._namespaces(lambda c: f"({dialect.is_(c)} OR {dialect.below(c)})", values, "LIMIT 1"))

    def list_namespaces(self, under: str = "") -> list[str]:
        if under:
            return sorted(set(self._namespaces(self._database.dialect.below, _bounds(under))))
        return sorted(set(self._namespaces(lambda column: f"{column} <> ''")))

    def get_namespace_properties(self, namespace: str) -> dict[str, str]:
        where = self._database.dialect.is_("catalog_name", "namespace")
        sql = f"SELECT property_key, property_value FROM {PROPERTIES} WHERE {where} AND property_key IS NOT NULL"
        rows = self._database.read(sql, (self._catalog_name, namespace))
        return {str(key): value or "" for key, value in sorted(rows, key=lambda row: str(row[0]))}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        self.check_property(namespace, key, value)
        columns = "catalog_name, namespace, property_key, property_value"
        sql = f"INSERT INTO {PROPERTIES} ({columns}) VALUES (?, ?, ?, ?)"
        self._database.write(sql, (self._catalog_name, namespace, key, value))

    def check_property(self, namespace: str, key: str, value: str) -> None:
        self._fits(namespace=namespace, property_key=key, property_value=value)

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        def replace() -> None:
            self.remove_namespace_properties(namespace, properties)
            for key, value in properties.items():
                self.insert_namespace_property(namespace, key, value)

        self.run_in_transaction(replace)

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        dialect, values = self._database.dialect, (self._catalog_name, namespace)
        if keys is None:
            where = dialect.is_("catalog_name", "namespace")
            return self._database.write(f"DELETE FROM {PROPERTIES} WHERE {where}", values)
        delete = f"DELETE FROM {PROPERTIES} WHERE {dialect.is_('catalog_name', 'namespace', 'property_key')}"
        return self.run_in_transaction(lambda: sum(self._database.write(delete, (*values, key)) for key in keys))

    def _namespaces(self, where: Callable[[str], str], values: Iterable[str] = (), end: str = "") -> list[str]:
        """Returns the namespaces of both tables for which a condition on the column holds, with duplicates."""
        dialect, given = self._database.dialect, (self._catalog_name, *values)
        of_both = (
            f"SELECT DISTINCT {dialect.exact.format(column)} FROM {table} "
            f"WHERE {dialect.is_('catalog_name')} AND {where(column)}"
            for table, column in ((OBJECTS, "table_namespace"), (PROPERTIES, "namespace"))
        )
        sql = f"{' UNION ALL '.join(of_both)} {end}"
        return [str(name) for (name,) in self._database.read(sql, (*given, *given))]

    # --- the schema ----------------------------------------------------------------------------------------------

    def _values(self, key: ObjectKey) -> tuple[str, str, str]:
        return self._catalog_name, key.namespace, key.name

    def _key(self) -> str:
        return self._database.dialect.is_("catalog_name", "table_namespace", "table_name")

    def _is(self, kind: Kind) -> str:
        """Returns the condition for rows of a kind. Without the column all rows are tables."""
        if not self._holds_views:
            return "TRUE" if kind == "TABLE" else "FALSE"
        return "iceberg_type = 'VIEW'" if kind == "VIEW" else "(iceberg_type = 'TABLE' OR iceberg_type IS NULL)"

    def _fits(self, **names: str) -> None:
        """Refuses values that exceed the columns, before anything is written."""
        if not self._database.dialect.enforces_lengths:
            return
        for what, value in names.items():
            most = 1000 if what == "property_value" else 255
            if len(value) > most:
                raise InvalidArgument(
                    f"the {what.replace('_', ' ')} {value[:40]!r}… has {len(value)} characters; "
                    f"{self._database.place} stores at most {most}. Choose a shorter one."
                )

    def _has_type(self) -> bool:
        columns = columns_of(self._database).get(OBJECTS, set())
        if "metadata_location" not in columns:
            raise DataCorrupt(
                f"{self._database.place} has a table {OBJECTS} that is not an Iceberg catalog's: "
                f"it has no column metadata_location"
            )
        return "iceberg_type" in columns

    def _create_tables(self) -> None:
        for statement in self._database.dialect.create():
            self._database.write(statement)

    def _add_type(self) -> None:
        if not self._has_type():
            self._database.write(f"ALTER TABLE {OBJECTS} ADD COLUMN iceberg_type VARCHAR(5)")


def _bounds(namespace: str) -> tuple[str, str]:
    """Returns the bounds of the names below a namespace: '/' is the character after '.'."""
    return f"{namespace}.", f"{namespace}/"
