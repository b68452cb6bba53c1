"""The interface of a database to `SqlStore`: statements with `?` for values, transactions, and the SQL dialect.

SQLite implements it in `sqlite_connection.py`, servers in `server_database.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pinakes.core.errors import InvalidArgument

T = TypeVar("T")

Value = str | None
"""The type of the values in the catalog's two tables."""

OBJECTS, PROPERTIES = "iceberg_tables", "iceberg_namespace_properties"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences between databases."""

    columns: str
    """A query for (table, column) of those of our two tables that exist."""
    value: str = "?"
    """The placeholder of a value that a name is compared with, so that the comparison is exact."""
    order: str = ""
    """The suffix that makes a column compare by code points in `<` and `>`."""
    exact: str = "{}"
    """The form of a column for which DISTINCT is case-sensitive."""
    table_options: str = ""
    """The end of CREATE TABLE."""
    enforces_lengths: bool = True
    """Whether VARCHAR(255) is limited to 255 characters."""

    def create(self) -> tuple[str, str]:
        """Returns the statements that create the two tables (V1) if they do not exist."""
        objects = f"""
CREATE TABLE IF NOT EXISTS {OBJECTS} (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
){self.table_options}"""
        properties = f"""
CREATE TABLE IF NOT EXISTS {PROPERTIES} (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
){self.table_options}"""
        return objects, properties

    def is_(self, *columns: str) -> str:
        """Returns the condition that each column equals a value exactly."""
        return " AND ".join(f"{column} = {self.value}" for column in columns)

    def below(self, column: str) -> str:
        """Returns the condition that a namespace is below another, with the two values that bound it."""
        return f"({column}{self.order} > {self.value} AND {column}{self.order} < {self.value})"


class Database(Protocol):
    """A thread-safe database. It raises Pinakes errors; `place` names it in them, without a password."""

    @property
    def place(self) -> str: ...

    @property
    def dialect(self) -> Dialect: ...

    def read(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]: ...

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Returns the number of matched rows. Outside a transaction the statement runs in its own."""
        ...

    def define(self, body: Callable[[], None]) -> None:
        """Runs a body that changes the schema; concurrent ones run one after the other."""
        ...

    def run_in_transaction(self, body: Callable[[], T]) -> T: ...

    def close(self) -> None: ...


def choose_name(database: Database, alias: str, wanted: str | None) -> str:
    """Returns the catalog name of the rows: the given one, else the only one stored, else the alias."""
    if wanted is not None:
        return wanted
    names = stored_catalog_names(database)
    if len(names) == 1:
        return names[0]
    if not names or alias in names:
        return alias
    raise InvalidArgument(
        f"{database.place} holds several catalogs: {', '.join(names)}. Choose one with the option CATALOG_NAME."
    )


def stored_catalog_names(database: Database) -> list[str]:
    """Returns the catalog names in the rows; none in a database without our tables."""
    if len(columns_of(database)) < 2:
        return []
    name = database.dialect.exact.format("catalog_name")
    sql = f"SELECT DISTINCT {name} FROM {OBJECTS} UNION ALL SELECT DISTINCT {name} FROM {PROPERTIES}"
    return sorted({str(name) for (name,) in database.read(sql)})


def columns_of(database: Database) -> dict[str, set[str]]:
    """Returns the columns of each of our tables that exists."""
    found: dict[str, set[str]] = {}
    for table, column in database.read(database.dialect.columns):
        found.setdefault(str(table).lower(), set()).add(str(column).lower())
    return found
