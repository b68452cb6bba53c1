"""Empty databases on the test servers: one for each test that asks, and gone after it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pymysql

from pinakes.providers.jdbc import JdbcCatalog
from pinakes.providers.sql_catalog.sql_store import SqlStore
from tests.servers.base import Facts


@dataclass(frozen=True)
class EmptyDatabase:
    """A schema of PostgreSQL or a database of MariaDB, by the location that a jdbc catalog is attached with."""

    facts: Facts
    name: str

    @property
    def is_postgres(self) -> bool:
        return self.facts["uri"].startswith("postgresql:")

    @property
    def location(self) -> str:
        if self.is_postgres:
            return f"{self.facts['uri']}?currentSchema={self.name}"
        return f"{self.facts['uri'].rpartition('/')[0]}/{self.name}"

    def run(self, *statements: str, values: Sequence[str | None] = ()) -> list[tuple[Any, ...]]:
        """Run statements without any code of ours; the rows of the last."""
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def connect(self) -> Any:
        own = {key: self.facts[key] for key in ("host", "user", "password")} | {"port": int(self.facts["port"])}
        if not self.is_postgres:
            return pymysql.connect(database=self.name, autocommit=True, charset="utf8mb4", **own)
        return psycopg.connect(
            dbname=self.facts["database"], autocommit=True, options=f"-c search_path={self.name}", **own
        )


@contextmanager
def empty_database(facts: Facts) -> Iterator[EmptyDatabase]:
    """Made through the server's own database, since the new one is not there yet."""
    name = f"t{uuid.uuid4().hex[:12]}"
    whole = EmptyDatabase(facts, facts["database"])
    whole.run(f"CREATE SCHEMA {name}")
    try:
        yield EmptyDatabase(facts, name)
    finally:
        whole.run(f"DROP SCHEMA {name}{' CASCADE' if whole.is_postgres else ''}")


def store_of(catalog: JdbcCatalog) -> SqlStore:
    assert isinstance(catalog._store, SqlStore)
    return catalog._store
