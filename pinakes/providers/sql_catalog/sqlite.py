"""The SQLite store: the two tables in a file that pyiceberg's SqlCatalog can also open."""

from __future__ import annotations

from pathlib import Path

from pinakes.providers.sql_catalog.sql_store import SqlStore
from pinakes.providers.sql_catalog.sqlite_connection import SqliteConnection


class SqliteStore(SqlStore):
    """A CatalogStore in one SQLite file."""

    @classmethod
    def open(cls, path: Path, catalog_name: str) -> SqliteStore:
        """Returns a store with its own connection, ready for use."""
        store = cls(SqliteConnection(path), catalog_name)
        store.initialize()
        return store
