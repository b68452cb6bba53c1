"""A catalog of 100,000 tables, made in seconds: rows go straight into its database, and every table has the same
metadata file, with twelve columns.

The tables of Iceberg's JDBC catalog are the same whoever reads them: our types `sqlite` and `jdbc`, and the REST server
of the tests, whose catalog is in SQLite.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pinakes.engine.session import Session

NAMESPACES, TABLES = 1000, 100
FEW = range(10)
REST = range(10, NAMESPACES)
"""The namespaces are made in two steps: 1,000 tables, and the others."""
COLUMNS = ", ".join(f"c{i:02} {t}" for i, t in enumerate(("BIGINT", "VARCHAR", "DECIMAL(18, 2)", "TIMESTAMP") * 3))

_OBJECTS = "iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)"
_SPACES = "iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)"


def template(session: Session, catalog: str) -> str:
    """Where the metadata of a table with twelve columns is, made in a catalog of the session's."""
    session.run(f"CREATE SCHEMA {catalog}.template")
    session.run(f"CREATE TABLE {catalog}.template.t ({COLUMNS})")
    loaded = session.catalogs.get(catalog).catalog.load_table(("template",), "t")  # type: ignore[attr-defined]
    return str(loaded.handle.metadata_location)


def fill_sqlite(file: Path, location: str, namespaces: range) -> None:
    """In the file of a catalog that holds `template.t` already."""
    database = sqlite3.connect(file, timeout=60)
    (name,) = database.execute("SELECT catalog_name FROM iceberg_tables").fetchone()
    with database:
        database.executemany(f"INSERT INTO {_OBJECTS} VALUES (?, ?, ?, ?, ?)", _objects(name, location, namespaces))
        database.executemany(f"INSERT INTO {_SPACES} VALUES (?, ?, ?, ?)", _spaces(name, namespaces))
    database.close()


def fill_postgres(uri: str, location: str, namespaces: range) -> None:
    import psycopg

    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        (name,) = cursor.execute("SELECT catalog_name FROM iceberg_tables").fetchone() or ("",)
        for into, rows in ((_OBJECTS, _objects(name, location, namespaces)), (_SPACES, _spaces(name, namespaces))):
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)


def _objects(catalog: str, location: str, namespaces: range) -> Iterator[tuple[str, ...]]:
    for n in namespaces:
        for t in range(TABLES):
            yield catalog, f"ns{n:04}", f"t{n:04}_{t:05}", location, "TABLE"


def _spaces(catalog: str, namespaces: range) -> Iterator[tuple[str, ...]]:
    for n in namespaces:
        yield catalog, f"ns{n:04}", "exists", "true"
