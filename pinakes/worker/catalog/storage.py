"""Storage of attachments and transactions that outlive a process: the protocol, and a SQLite file that
processes share.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from pinakes.worker.catalog.names import AttachOpaqueData, TransactionOpaqueData


class CatalogStorage(Protocol):
    """A store of attachments and transactions."""

    def attach_put(self, attach_opaque_data: AttachOpaqueData, catalog_name: str, options: dict[str, Any]) -> None: ...
    def attach_get(self, attach_opaque_data: AttachOpaqueData) -> tuple[str, dict[str, Any]] | None: ...
    def attach_delete(self, attach_opaque_data: AttachOpaqueData) -> None: ...
    def attach_list(self) -> list[AttachOpaqueData]: ...

    def transaction_put(
        self, transaction_opaque_data: TransactionOpaqueData, attach_opaque_data: AttachOpaqueData, state: bytes
    ) -> None: ...
    def transaction_get(
        self, transaction_opaque_data: TransactionOpaqueData
    ) -> tuple[AttachOpaqueData, bytes] | None: ...
    def transaction_delete(self, transaction_opaque_data: TransactionOpaqueData) -> None: ...


_TABLES = """
CREATE TABLE IF NOT EXISTS catalog_attachments (
    attach_opaque_data BLOB PRIMARY KEY,
    catalog_name TEXT NOT NULL,
    options_json TEXT NOT NULL,
    created_at REAL DEFAULT (julianday('now'))
);
CREATE TABLE IF NOT EXISTS catalog_transactions (
    transaction_opaque_data BLOB PRIMARY KEY,
    attach_opaque_data BLOB NOT NULL REFERENCES catalog_attachments(attach_opaque_data) ON DELETE CASCADE,
    state_data BLOB NOT NULL,
    created_at REAL DEFAULT (julianday('now'))
);
CREATE INDEX IF NOT EXISTS idx_transactions_attach ON catalog_transactions(attach_opaque_data);
"""
_BUSY_SECONDS = 30.0


class CatalogStorageSqlite:
    """A SQLite file in WAL mode. It may contain secrets, so it is readable by its owner only."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else _default_path()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self._local = threading.local()
        with self._changing() as connection:
            connection.executescript(_TABLES)

    # --- attachments ---------------------------------------------------------------------------------------------

    def generate_attach_opaque_data(self) -> AttachOpaqueData:
        return AttachOpaqueData(uuid.uuid4().bytes)

    def attach_put(self, attach_opaque_data: AttachOpaqueData, catalog_name: str, options: dict[str, Any]) -> None:
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO catalog_attachments (attach_opaque_data, catalog_name, options_json) VALUES (?, ?, ?) "
                "ON CONFLICT (attach_opaque_data) DO UPDATE SET catalog_name = excluded.catalog_name, "
                "options_json = excluded.options_json",
                (bytes(attach_opaque_data), catalog_name, json.dumps(options)),
            )

    def attach_add(self, attach_opaque_data: AttachOpaqueData, catalog_name: str, options: dict[str, Any]) -> None:
        """Inserts an attachment, unless it exists."""
        with self._changing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO catalog_attachments (attach_opaque_data, catalog_name, options_json) "
                "VALUES (?, ?, ?)",
                (bytes(attach_opaque_data), catalog_name, json.dumps(options)),
            )

    def attach_replace(
        self, attach_opaque_data: AttachOpaqueData, before: dict[str, Any], after: dict[str, Any]
    ) -> bool:
        """Changes the options if they are still `before`. Returns whether they were changed."""
        with self._changing() as connection:
            changed = connection.execute(
                "UPDATE catalog_attachments SET options_json = ? WHERE attach_opaque_data = ? AND options_json = ?",
                (json.dumps(after), bytes(attach_opaque_data), json.dumps(before)),
            )
            return changed.rowcount == 1

    def attach_get(self, attach_opaque_data: AttachOpaqueData) -> tuple[str, dict[str, Any]] | None:
        found = self._one(
            "SELECT catalog_name, options_json FROM catalog_attachments WHERE attach_opaque_data = ?",
            attach_opaque_data,
        )
        return None if found is None else (found[0], json.loads(found[1]))

    def attach_delete(self, attach_opaque_data: AttachOpaqueData) -> None:
        """Deletes an attachment and its transactions."""
        with self._changing() as connection:
            connection.execute(
                "DELETE FROM catalog_attachments WHERE attach_opaque_data = ?", (bytes(attach_opaque_data),)
            )

    def attach_list(self) -> list[AttachOpaqueData]:
        rows = self._connection.execute("SELECT attach_opaque_data FROM catalog_attachments ORDER BY created_at, 1")
        return [AttachOpaqueData(bytes(row[0])) for row in rows]

    # --- transactions --------------------------------------------------------------------------------------------

    def generate_transaction_opaque_data(self) -> TransactionOpaqueData:
        return TransactionOpaqueData(uuid.uuid4().bytes)

    def transaction_put(
        self, transaction_opaque_data: TransactionOpaqueData, attach_opaque_data: AttachOpaqueData, state: bytes
    ) -> None:
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO catalog_transactions (transaction_opaque_data, attach_opaque_data, state_data) "
                "VALUES (?, ?, ?) ON CONFLICT (transaction_opaque_data) DO UPDATE SET state_data = excluded.state_data",
                (bytes(transaction_opaque_data), bytes(attach_opaque_data), bytes(state)),
            )

    def transaction_get(self, transaction_opaque_data: TransactionOpaqueData) -> tuple[AttachOpaqueData, bytes] | None:
        found = self._one(
            "SELECT attach_opaque_data, state_data FROM catalog_transactions WHERE transaction_opaque_data = ?",
            transaction_opaque_data,
        )
        return None if found is None else (AttachOpaqueData(bytes(found[0])), bytes(found[1]))

    def transaction_delete(self, transaction_opaque_data: TransactionOpaqueData) -> None:
        """Deletes a transaction; does nothing if it does not exist."""
        with self._changing() as connection:
            connection.execute(
                "DELETE FROM catalog_transactions WHERE transaction_opaque_data = ?",
                (bytes(transaction_opaque_data),),
            )

    def cleanup_old_entries(self, max_age_days: float = 7) -> int:
        """Deletes older attachments and transactions. Returns the number of deleted entries."""
        with self._changing() as connection:
            old = "created_at < julianday('now') - ?"
            gone = connection.execute(f"DELETE FROM catalog_transactions WHERE {old}", (max_age_days,)).rowcount
            return gone + connection.execute(f"DELETE FROM catalog_attachments WHERE {old}", (max_age_days,)).rowcount

    def close(self) -> None:
        """Closes the connection of this thread."""
        connection = self._local.__dict__.pop("connection", None)
        if connection is not None:
            connection.close()

    # --- internals -----------------------------------------------------------------------------------------------

    @property
    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = self._local.__dict__.get("connection")
        if found is None:
            found = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA foreign_keys = ON")
            self._local.connection = found
        return found

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Runs a transaction that takes the write lock at the start: two processes wait for each other instead of
        failing.
        """
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if connection.in_transaction:
            connection.execute("COMMIT")

    def _one(self, sql: str, key: bytes) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(sql, (bytes(key),)).fetchone()
        return found


def _default_path() -> Path:
    from platformdirs import user_state_path

    return user_state_path("pinakes") / "worker_catalog.db"
