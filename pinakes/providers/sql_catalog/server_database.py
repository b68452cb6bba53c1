"""A database on a server: a connection pool, transactions, and retries after broken connections.

Work that certainly did not happen is retried: reads, and transactions that broke before their COMMIT was sent, since
the server rolls those back. A COMMIT that broke is `OutcomeUnknown`. So a restart of the server is tolerated, and
nothing is applied more than once. For this reason every write is a transaction: the outcome of an auto-committed one
could not be determined.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

from pinakes.core.errors import (
    CatalogUnavailable,
    DataCorrupt,
    InternalError,
    InvalidArgument,
    PermissionDenied,
    PinakesError,
)
from pinakes.core.waiting import waited
from pinakes.providers.sql_catalog.database import Dialect, Value
from pinakes.providers.sql_catalog.driver import Driver, Fault
from pinakes.providers.sql_catalog.pool import Pool
from pinakes.providers.sql_catalog.store import OutcomeUnknown, RowExists

T = TypeVar("T")

CONFLICT_SECONDS = 30.0
"""How long a transaction that lost to another is retried, in seconds."""
BREAKS = 2
"""How often a broken connection is replaced before it is an error."""


class _Retry(CatalogUnavailable):
    """Nothing happened, and a retry may succeed; without a retry it is an ordinary error."""

    def __init__(self, message: str, fault: Fault = Fault.UNAVAILABLE) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class _Raised:
    """An error of a transaction that was rolled back, on a working connection."""

    error: Exception


class ServerDatabase:
    """A `Database` on a server. `place` names it in errors, without its password."""

    def __init__(self, driver: Driver, place: str, max_connections: int, patience: float = 30.0) -> None:
        self._driver = driver
        self._place = place
        self._own = threading.local()
        self._dialect: Dialect | None = None
        self._pool: Pool[Any] = Pool(place, self._connect, self._disconnect, max_connections, patience)

    @property
    def place(self) -> str:
        return self._place

    @property
    def dialect(self) -> Dialect:
        if self._dialect is None:
            self._dialect = waited(lambda: self._surely(lambda: self._leased(self._look)))
        return self._dialect

    def read(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]:
        if self._connection is not None:
            return self._execute(self._connection, sql, values)[0]
        # A statement that is cancelled leaves a read; a change must know its outcome.
        return waited(
            lambda: self._surely(lambda: self._leased(lambda connection: self._execute(connection, sql, values)[0]))
        )

    def write(self, sql: str, values: Sequence[Value] = ()) -> int:
        if self._connection is not None:
            return self._execute(self._connection, sql, values)[1]
        return self._transact(lambda: self.write(sql, values), serializable=False)

    def define(self, body: Callable[[], None]) -> None:
        def alone() -> None:
            with self._errors():
                self._driver.define(self._connection)
            body()

        self._transact(alone, serializable=False)

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        """Runs a serializable transaction: the rows that `body` read are unchanged when it commits. It is retried if
        that fails.
        """
        return body() if self._connection is not None else self._transact(body, serializable=True)

    def close(self) -> None:
        self._pool.close()

    # --- transactions --------------------------------------------------------------------------------------------

    @property
    def _connection(self) -> Any:
        """The connection of this thread's transaction."""
        return getattr(self._own, "connection", None)

    def _transact(self, body: Callable[[], T], *, serializable: bool) -> T:
        def once(connection: Any) -> T | _Raised:
            with self._errors():
                self._driver.begin(connection, serializable=serializable)
            self._own.connection, self._own.failed = connection, None
            try:
                result = body()
                if self._own.failed is not None:  # a body may swallow an error; the transaction is aborted anyway
                    raise self._own.failed
            except Exception as error:  # noqa: BLE001 — any error ends the transaction
                return self._rolled_back(connection, error)
            finally:
                self._own.connection = None
            return self._committed(connection) or result

        def attempt() -> T:
            done = self._leased(once)
            if isinstance(done, _Raised):
                raise done.error
            return done

        return self._surely(attempt)

    def _committed(self, connection: Any) -> _Raised | None:
        try:
            self._execute(connection, "COMMIT", ())
        except _Retry as again:
            if again.fault is Fault.BROKEN:
                raise OutcomeUnknown(f"{self._place}: the connection broke during the commit") from again
            return _Raised(again)
        return None

    def _rolled_back(self, connection: Any, error: Exception) -> _Raised:
        """Rolls back. If the connection fails to, the error propagates through the pool, which closes the
        connection.
        """
        try:
            with self._errors():
                self._driver.execute(connection, "ROLLBACK", ())
        except PinakesError:
            raise error from None
        return _Raised(error)

    # --- statements ----------------------------------------------------------------------------------------------

    def _execute(self, connection: Any, sql: str, values: Sequence[Value]) -> tuple[list[tuple[Value, ...]], int]:
        """Executes a statement. Within a transaction nothing runs after an error, since the result would be partial."""
        if self._connection is not None and self._own.failed is not None:
            raise self._own.failed
        try:
            with self._errors():
                rows, count = self._driver.execute(connection, sql, values)
            self._check_values(rows)
            return rows, count
        except PinakesError as error:
            if self._connection is not None:
                self._own.failed = error
            raise

    def _check_values(self, rows: list[tuple[Value, ...]]) -> None:
        """The server chooses the types of its columns: refuses lists, documents and the like."""
        for row in rows:
            for value in row:
                if value is not None and not isinstance(value, str | int | bytes):
                    raise DataCorrupt(f"{self._place} returned a value that is not text: {type(value).__name__}")

    def _surely(self, work: Callable[[], T]) -> T:
        """Retries after a broken connection or a lost conflict, within the limits."""
        breaks, deadline, pause = 0, time.monotonic() + CONFLICT_SECONDS, 0.002
        while True:
            try:
                return work()
            except _Retry as again:
                if again.fault is Fault.BROKEN and breaks < BREAKS:
                    breaks += 1
                    self._pool.clear()
                elif again.fault is Fault.CONFLICT and time.monotonic() < deadline:
                    time.sleep(random.uniform(0, pause))
                    pause = min(pause * 2, 0.5)
                else:
                    raise CatalogUnavailable(again.message) from again

    def _look(self, connection: Any) -> Dialect:
        with self._errors():
            return self._driver.dialect(connection)

    def _leased(self, work: Callable[[Any], T]) -> T:
        with self._pool.lease() as connection:
            return work(connection)

    def _connect(self) -> Any:
        try:
            return self._driver.connect()
        except self._driver.errors as error:
            fault = self._driver.fault(error)
            # There is no connection to replace: the server does not respond.
            raise self._translated(Fault.UNAVAILABLE if fault is Fault.BROKEN else fault, error) from error

    def _disconnect(self, connection: Any) -> None:
        with suppress(*self._driver.errors):
            self._driver.disconnect(connection)

    # --- errors --------------------------------------------------------------------------------------------------

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._driver.errors as error:
            raise self._translated(self._driver.fault(error), error) from error
        except UnicodeEncodeError as error:
            raise InvalidArgument(f"{self._place}: a text is not valid Unicode: {error.reason}") from error

    def _translated(self, fault: Fault, error: Exception) -> PinakesError:
        text = " ".join(str(error.args[-1] if error.args else error).split()) or type(error).__name__
        match fault:
            case Fault.BROKEN | Fault.CONFLICT:
                return _Retry(f"{self._place}: {text}", fault)
            case Fault.TAKEN:
                return RowExists(f"{self._place}: the key is taken: {text}")
            case Fault.DENIED:
                return PermissionDenied(f"{self._place} refused: {text}")
            case Fault.TOO_LONG:
                return InvalidArgument(f"{self._place} can't store a value: {text}")
            case Fault.UNAVAILABLE:
                return CatalogUnavailable(f"{self._place}: {text}")
            case Fault.OTHER:
                return InternalError(f"{self._place}: {text}")
            case _:
                assert_never(fault)
