"""Client connections: the engine session of a client and its handles.

Flight has calls but no connections. A call belongs to the session that its cookie names. For a client without cookies
(ADBC by default) it belongs to the session of its user and TCP connection. Handles of prepared statements and
transactions refer to their connection, so they work from any call of the user.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.arrays.decode import plain_parameter
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity
from pinakes.engine.describe import Description
from pinakes.engine.execution.memory_budget import Reservation
from pinakes.engine.execution.query import Query
from pinakes.engine.result import Result
from pinakes.engine.session import Session

if TYPE_CHECKING:
    from pinakes.engine.transactions.transaction import Transaction as EngineTransaction


@dataclass(eq=False, slots=True)
class Connection:
    session: Session
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while a transaction begins or ends."""
    keeps_cookies: bool = False
    """Whether the client sends the cookie, so that it can return over another TCP connection."""
    peer: str = ""
    """Address of the latest call."""
    cookie: bytes = field(default_factory=lambda: secrets.token_hex(16).encode())
    """Identifies the session to clients that keep cookies."""
    latest: tuple[int, Query] | None = None
    """The latest statement of a remote shell, with the number that the shell gave it."""

    @property
    def user(self) -> str:
        return self.session.identity.user

    def renew(self, identity: Identity) -> None:
        """Takes over the token and the roles of the latest call of the same user."""
        if identity != self.session.identity:
            self.session.renew(identity)

    @property
    def is_busy(self) -> bool:
        """Whether a statement is running, or its result is pending or being fetched."""
        return any(query.ended is None for query in self.session.running)

    def close(self) -> None:
        """Cancels running statements and rolls back the transaction."""
        self.session.close()


@dataclass(eq=False, slots=True)
class Transaction:
    """The handle of a transaction on a connection."""

    connection: Connection
    begun: EngineTransaction

    @property
    def user(self) -> str:
        return self.connection.user

    @property
    def is_open(self) -> bool:
        """False once a statement has ended the transaction; the session may be in another one since."""
        return self.connection.session.transaction is self.begun

    def take_up(self) -> None:
        """Continues the handle after a statement has ended its transaction: it now refers to the session's current
        transaction, or to a new one."""
        session = self.connection.session
        if session.transaction is None:
            session.begin()
        assert session.transaction is not None
        self.begun = session.transaction

    def close(self) -> None:
        """Rolls back an expired transaction. Closing the connection does so, too."""
        with self.connection.lock:
            if self.is_open:
                self.connection.session.end_transaction()
                self.begun.rollback()


@dataclass(eq=False, slots=True)
class Prepared:
    """A prepared statement and its bound parameters."""

    connection: Connection
    sql: str
    description: Description
    memory: Reservation
    """That of the statement."""
    bound: pa.Table | None = None
    """One row per execution; the columns are the parameters in order."""
    bound_memory: Reservation | None = None

    @property
    def user(self) -> str:
        return self.connection.user

    def close(self) -> None:
        self.memory.release()
        self._unbind()

    def _unbind(self) -> None:
        self.bound, memory, self.bound_memory = None, self.bound_memory, None
        if memory is not None:
            memory.release()

    def parameters(self, row: int) -> dict[str, pa.Scalar]:
        """Returns the values of one execution, by name."""
        if self.bound is None:
            return {}
        names = self.description.parameters.names
        return {name: self.bound.column(at)[row] for at, name in enumerate(names)}

    def bind(self, rows: pa.Table, memory: Reservation) -> None:
        """Sets the values for the next executions, and takes over their memory."""
        bound = self.arranged(rows)
        self._unbind()
        self.bound, self.bound_memory = bound, memory.take()

    def arranged(self, rows: pa.Table) -> pa.Table | None:
        """Returns the values in the order of the parameters: by name if the parameters are named and all are given,
        otherwise by position."""
        names = self.description.parameters.names
        if not rows.num_columns and not names:
            return None
        if rows.num_columns != len(names):
            raise InvalidArgument(f"the statement takes {len(names)} parameters, and {rows.num_columns} were given")
        if not all(name.isdigit() for name in names) and set(rows.column_names) == set(names):
            rows = rows.select(names)
        types = self.description.parameters.types
        return pa.table([_fitting(*pair) for pair in zip(rows.columns, types, strict=True)], names=names)


def _fitting(column: pa.ChunkedArray, expected: pa.DataType) -> pa.ChunkedArray:
    """Returns values that are comparable with the expected type."""
    column = plain_parameter(column, expected)
    if pa.types.is_time32(column.type) and pa.types.is_time64(expected):
        return column.cast(expected)  # DataFusion can't compare times of different units
    return column


@dataclass(eq=False, slots=True)
class PendingResult:
    """A result that is pending or being fetched."""

    connection: Connection
    """The connection whose client fetches it."""
    result: Result
    schema: pa.Schema
    """The schema on the wire."""
    memory: Reservation
    """That of the statement and its parameters."""
    stopped: str | None = None
    """The reason why it was canceled; the result is then incomplete."""

    @property
    def user(self) -> str:
        return self.connection.user

    def cancel(self, reason: str) -> None:
        """Cancels the query; the client that fetches the result gets an error."""
        self.stopped = reason
        self.result.stop(reason)
        self.close()

    def close(self) -> None:
        self.result.close()
        self.memory.release()
