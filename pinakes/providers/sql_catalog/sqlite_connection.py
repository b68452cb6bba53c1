"""One SQLite connection for many threads: WAL, a busy timeout, transactions, and Pinakes errors instead of the
driver's.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, InternalError, PermissionDenied, PinakesError
from pinakes.providers.sql_catalog.database import Dialect, Value
from pinakes.providers.sql_catalog.store import OutcomeUnknown, RowExists

T = TypeVar("T")

DIALECT = Dialect(
    columns="""SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c
               WHERE t.type = 'table' AND t.name IN ('iceberg_tables', 'iceberg_namespace_properties')""",
    enforces_lengths=False,
)
_TAKEN = (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FORBIDDEN = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


class SqliteConnection:
    """A connection with a lock: a file database allows one writer at a time, so one connection is enough."""

    def __init__(self, path: Path, busy_seconds: float = 30.0) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        self._depth = 0
        with self._errors():
            self._raw = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            self._use_wal()
        except PinakesError:
            self._raw.close()
            raise

    @property
    def place(self) -> str:
        return str(self.path)

    @property
    def dialect(self) -> Dialect:
        return DIALECT

    def close(self) -> None:
        with self._lock:
            self._raw.close()

    def read(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]:
        """Returns the rows of a query."""
        with self._lock, self._errors():
            return self._raw.execute(sql, values).fetchall()

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Returns the number of changed rows. Outside a transaction the statement runs in its own."""
        return self.run_in_transaction(lambda: self._execute(sql, values))

    def define(self, body: Callable[[], None]) -> None:
        self.run_in_transaction(body)

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        """Runs a transaction. BEGIN IMMEDIATE takes the write lock at the start: a later upgrade could fail without
        waiting.
        """
        with self._lock:
            if self._depth:
                return body()
            with self._errors():
                self._raw.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                result = body()
            except BaseException:
                self._rollback()
                raise
            finally:
                self._depth -= 1
            self._commit()
            return result

    def _execute(self, sql: str, values: Sequence[Value]) -> int:
        with self._errors():
            return self._raw.execute(sql, values).rowcount

    def _commit(self) -> None:
        try:
            with self._errors():
                self._raw.execute("COMMIT")
        except PinakesError as error:
            if not self._raw.in_transaction:
                raise OutcomeUnknown(f"{self.path}: the commit broke off: {error.message}") from error
            self._rollback()
            raise

    def _rollback(self) -> None:
        """Rolls back, unless SQLite has done so itself, as it does when the disk is full."""
        with suppress(sqlite3.ProgrammingError):  # closed meanwhile: that rolls back too
            if self._raw.in_transaction:
                self._raw.execute("ROLLBACK")

    def _use_wal(self) -> None:
        """Enables WAL, so that readers never wait for a writer. If two processes switch concurrently, SQLite refuses
        one without the busy timeout.
        """
        deadline = time.monotonic() + self._busy_seconds
        with self._errors():
            while self._raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                try:
                    self._raw.execute("PRAGMA journal_mode = WAL").fetchone()
                    return  # a file system without shared memory keeps its mode, which also works
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY:
                        return  # a read-only file is read as it is
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.Error) -> PinakesError:
        extended: int = getattr(error, "sqlite_errorcode", 0)  # the driver's own errors, such as "closed", have none
        code = extended & 0xFF
        if extended in _TAKEN:
            return RowExists(f"{self.path}: the key is taken: {error}")
        if code in _DAMAGED:
            return DataCorrupt(f"{self.path} is not a sound SQLite database: {error}")
        if code in _FORBIDDEN:
            return PermissionDenied(f"{self.path} can't be written: {error}")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return CatalogUnavailable(f"{self.path} was locked by another process for {self._busy_seconds:g} seconds")
        if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
            return CatalogUnavailable(f"{self.path} is closed; the catalog was detached. ATTACH it again.")
        if code == sqlite3.SQLITE_ERROR or not code:
            return InternalError(f"{self.path}: {error}")
        return CatalogUnavailable(f"{self.path}: {error}")
