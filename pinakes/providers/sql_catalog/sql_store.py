"""The CatalogStore in SQL: the two tables of Java's JdbcCatalog, in whatever database answers `Database`.

Statements are written with `?` for values. What databases do differently is in `Dialect`: how names are compared
exactly, and the schema. Sorting and removing duplicates is done here, because databases do it by their own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pinakes.core.errors import DataCorrupt, InvalidArgument, NotSupportedError
from pinakes.providers.sql_catalog.store import Kind, ObjectKey, ObjectRow

T = TypeVar("T")

Value = str | None
"""What the catalog's two tables hold."""

_OBJECTS, _PROPERTIES = "iceberg_tables", "iceberg_namespace_properties"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between databases."""

    columns: str
    """A query for (table, column) of those of our two tables that are there."""
    value: str = "?"
    """A value that a name is compared with, so that the comparison is exact."""
    order: str = ""
    """What makes a column compare by code points in `<` and `>`."""
    exact: str = "{}"
    """A column such that DISTINCT keeps what differs in case alone."""
    table_options: str = ""
    """What CREATE TABLE ends with."""
    enforces_lengths: bool = True
    """Whether VARCHAR(255) means at most 255 characters."""

    def create(self) -> tuple[str, str]:
        """The two tables (V1), each unless it is there."""
        objects = f"""
CREATE TABLE IF NOT EXISTS {_OBJECTS} (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
){self.table_options}"""
        properties = f"""
CREATE TABLE IF NOT EXISTS {_PROPERTIES} (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
){self.table_options}"""
        return objects, properties

    def is_(self, *columns: str) -> str:
        """The condition that each column is exactly a value."""
        return " AND ".join(f"{column} = {self.value}" for column in columns)

    def below(self, column: str) -> str:
        """The condition that a namespace is below another, of the two values of `_bounds`."""
        return f"({column}{self.order} > {self.value} AND {column}{self.order} < {self.value})"


class Database(Protocol):
    """A database for any number of threads. Its errors are ours; `place` names it in them, without a password."""

    @property
    def place(self) -> str: ...

    @property
    def dialect(self) -> Dialect: ...

    def read(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]: ...

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        """The number of rows that matched; outside a transaction it is one of its own."""
        ...

    def define(self, body: Callable[[], None]) -> None:
        """Run a body that changes the schema; of several at the same time, one after the other."""
        ...

    def run_in_transaction(self, body: Callable[[], T]) -> T: ...

    def close(self) -> None: ...


def choose_name(database: Database, alias: str, asked: str | None) -> str:
    """The catalog name that the rows carry: the one asked for, else the only one stored, else the alias."""
    if asked is not None:
        return asked
    names = stored_catalog_names(database)
    if len(names) == 1:
        return names[0]
    if not names or alias in names:
        return alias
    raise InvalidArgument(
        f"{database.place} holds several catalogs: {', '.join(names)}. Choose one with the option CATALOG_NAME."
    )


def stored_catalog_names(database: Database) -> list[str]:
    """The catalog names that rows carry; none in a database without our tables."""
    if len(_columns(database)) < 2:
        return []
    name = database.dialect.exact.format("catalog_name")
    sql = f"SELECT DISTINCT {name} FROM {_OBJECTS} UNION ALL SELECT DISTINCT {name} FROM {_PROPERTIES}"
    return sorted({str(name) for (name,) in database.read(sql)})


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
        if len(_columns(self._database)) < 2:
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
        self._fits(namespace=key.namespace, name=key.name)
        columns = "catalog_name, table_namespace, table_name, metadata_location"
        values: tuple[str, ...] = (self._catalog_name, key.namespace, key.name, metadata_location)
        if self._holds_views:
            columns, values = f"{columns}, iceberg_type", (*values, kind)
        elif kind == "VIEW":
            raise NotSupportedError(
                f"{self._database.place} has the older schema (V0), which can't hold views. "
                f"Attach it with the option UPGRADE true to add the column that tells them from tables."
            )
        marks = ", ".join("?" * len(values))
        self._database.write(f"INSERT INTO {_OBJECTS} ({columns}) VALUES ({marks})", values)

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None:
        columns = "metadata_location, previous_metadata_location"
        sql = f"SELECT {columns} FROM {_OBJECTS} WHERE {self._key()} AND {self._is(kind)}"
        rows = self._database.read(sql, self._values(key))
        return ObjectRow(key, kind, rows[0][0], rows[0][1]) if rows else None

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        where = self._database.dialect.is_("catalog_name", "table_namespace")
        sql = f"SELECT table_name FROM {_OBJECTS} WHERE {where} AND {self._is(kind)}"
        return sorted(str(name) for (name,) in self._database.read(sql, (self._catalog_name, namespace)))

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        is_view = f"CASE WHEN {self._is('VIEW')} THEN 'VIEW' ELSE 'TABLE' END"
        sql = f"""SELECT table_namespace, table_name, {is_view} FROM {_OBJECTS}
                  WHERE {self._database.dialect.is_("catalog_name")} AND ({self._is("TABLE")} OR {self._is("VIEW")})"""
        rows = sorted((str(ns), str(name), kind) for ns, name, kind in self._database.read(sql, (self._catalog_name,)))
        return [(ObjectKey(ns, name), "VIEW" if kind == "VIEW" else "TABLE") for ns, name, kind in rows]

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        self._fits(namespace=target.namespace, name=target.name)
        sql = f"UPDATE {_OBJECTS} SET table_namespace = ?, table_name = ? WHERE {self._key()} AND {self._is(kind)}"
        return self._database.write(sql, (target.namespace, target.name, *self._values(source)))

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        return self._database.write(
            f"DELETE FROM {_OBJECTS} WHERE {self._key()} AND {self._is(kind)}", self._values(key)
        )

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        where = f"{self._key()} AND {self._database.dialect.is_('metadata_location')} AND {self._is(kind)}"
        sql = f"UPDATE {_OBJECTS} SET metadata_location = ?, previous_metadata_location = ? WHERE {where}"
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
        sql = f"SELECT property_key, property_value FROM {_PROPERTIES} WHERE {where} AND property_key IS NOT NULL"
        rows = self._database.read(sql, (self._catalog_name, namespace))
        return {str(key): value or "" for key, value in sorted(rows, key=lambda row: str(row[0]))}

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        self._fits(namespace=namespace, property_key=key, property_value=value)
        columns = "catalog_name, namespace, property_key, property_value"
        sql = f"INSERT INTO {_PROPERTIES} ({columns}) VALUES (?, ?, ?, ?)"
        self._database.write(sql, (self._catalog_name, namespace, key, value))

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
            return self._database.write(f"DELETE FROM {_PROPERTIES} WHERE {where}", values)
        delete = f"DELETE FROM {_PROPERTIES} WHERE {dialect.is_('catalog_name', 'namespace', 'property_key')}"
        return self.run_in_transaction(lambda: sum(self._database.write(delete, (*values, key)) for key in keys))

    def _namespaces(self, where: Callable[[str], str], values: Iterable[str] = (), end: str = "") -> list[str]:
        """The namespaces of both tables for which a condition on the column holds; some of them twice."""
        dialect, given = self._database.dialect, (self._catalog_name, *values)
        of_both = (
            f"SELECT DISTINCT {dialect.exact.format(column)} FROM {table} "
            f"WHERE {dialect.is_('catalog_name')} AND {where(column)}"
            for table, column in ((_OBJECTS, "table_namespace"), (_PROPERTIES, "namespace"))
        )
        sql = f"{' UNION ALL '.join(of_both)} {end}"
        return [str(name) for (name,) in self._database.read(sql, (*given, *given))]

    # --- the schema ----------------------------------------------------------------------------------------------

    def _values(self, key: ObjectKey) -> tuple[str, str, str]:
        return self._catalog_name, key.namespace, key.name

    def _key(self) -> str:
        return self._database.dialect.is_("catalog_name", "table_namespace", "table_name")

    def _is(self, kind: Kind) -> str:
        """The condition for rows of a kind. Without the column all rows are tables."""
        if not self._holds_views:
            return "TRUE" if kind == "TABLE" else "FALSE"
        return "iceberg_type = 'VIEW'" if kind == "VIEW" else "(iceberg_type = 'TABLE' OR iceberg_type IS NULL)"

    def _fits(self, **names: str) -> None:
        """Refuse what the columns can't hold, before anything is written."""
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
        columns = _columns(self._database).get(_OBJECTS, set())
        if "metadata_location" not in columns:
            raise DataCorrupt(
                f"{self._database.place} has a table {_OBJECTS} that is not an Iceberg catalog's: "
                f"it has no column metadata_location"
            )
        return "iceberg_type" in columns

    def _create_tables(self) -> None:
        for statement in self._database.dialect.create():
            self._database.write(statement)

    def _add_type(self) -> None:
        if not self._has_type():
            self._database.write(f"ALTER TABLE {_OBJECTS} ADD COLUMN iceberg_type VARCHAR(5)")


def _columns(database: Database) -> dict[str, set[str]]:
    """The columns of each of our tables that is there."""
    found: dict[str, set[str]] = {}
    for table, column in database.read(database.dialect.columns):
        found.setdefault(str(table).lower(), set()).add(str(column).lower())
    return found


def _bounds(namespace: str) -> tuple[str, str]:
    """What is below a namespace lies between these: '/' is the character after '.'."""
    return f"{namespace}.", f"{namespace}/"
