"""A client's connection: the session of the engine behind it, and what the client holds there.

Flight has calls and no connections. A call belongs to the session that its cookie names; a client that keeps no cookies
(ADBC, unless it is asked to) to the session of its user and its TCP connection. Handles of prepared statements and
transactions know their own connection, so they work from anywhere.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.decode import plain_parameter
from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity
from pinakes.engine.execution.query import Query
from pinakes.engine.planning.describe import Description
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
    """Whether its client is known to name it by its cookie, and so can come back from anywhere."""
    peer: str = ""
    """Where its newest call came from."""
    cookie: bytes = field(default_factory=lambda: secrets.token_hex(16).encode())
    """Names it to clients that keep cookies."""
    latest: tuple[int, Query] | None = None
    """The statement that a remote shell began last, and the number that the shell gave it."""

    @property
    def user(self) -> str:
        return self.session.identity.user

    def renew(self, identity: Identity) -> None:
        """The same user with the token and the roles of the newest call."""
        if identity != self.session.identity:
            self.session.renew(identity)

    @property
    def is_busy(self) -> bool:
        """Whether a statement runs, or its rows are fetched or wait for it."""
        return any(query.ended is None for query in self.session.running)

    def close(self) -> None:
        """What runs is stopped and what was not committed rolled back."""
        self.session.close()


@dataclass(eq=False, slots=True)
class Transaction:
    """The handle of a transaction: it says which connection it was begun on."""

    connection: Connection
    begun: EngineTransaction

    @property
    def user(self) -> str:
        return self.connection.user

    @property
    def is_open(self) -> bool:
        """Not any more when a statement has ended it; the session may be in another one since."""
        return self.connection.session.transaction is self.begun

    def take_up(self) -> None:
        """A statement has ended it, and the client goes on with the handle: it is in the transaction that has begun
        since, or in a new one."""
        session = self.connection.session
        if session.transaction is None:
            session.begin()
        assert session.transaction is not None
        self.begun = session.transaction

    def close(self) -> None:
        """Nobody used it for too long: roll it back, which the end of its connection does, too."""
        with self.connection.lock:
            if self.is_open:
                self.connection.session.end_transaction()
                self.begun.rollback()


@dataclass(eq=False, slots=True)
class Prepared:
    """A statement that was described, and the values that were bound to it."""

    connection: Connection
    sql: str
    description: Description
    bound: pa.Table | None = None
    """A row for each execution; the columns are the parameters in order."""

    @property
    def user(self) -> str:
        return self.connection.user

    def close(self) -> None:
        self.bound = None

    def parameters(self, row: int) -> dict[str, pa.Scalar]:
        """The values of one execution, by name."""
        if self.bound is None:
            return {}
        names = self.description.parameters.names
        return {name: self.bound.column(at)[row] for at, name in enumerate(names)}

    def bind(self, rows: pa.Table) -> None:
        """The values for the executions to come."""
        self.bound = self.arranged(rows)

    def arranged(self, rows: pa.Table) -> pa.Table | None:
        """Values in the order of the parameters: by name where they have names and all are there, else by position."""
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
    """Values that can be compared with those of the type that the statement expects."""
    column = plain_parameter(column, expected)
    if pa.types.is_time32(column.type) and pa.types.is_time64(expected):
        return column.cast(expected)  # DataFusion compares no two units of times
    return column


@dataclass(eq=False, slots=True)
class Parked:
    """A result that waits to be fetched, or is being fetched."""

    connection: Connection
    """Whose client is to fetch it."""
    result: Result
    schema: pa.Schema
    """As it goes over the wire."""
    stopped: str | None = None
    """Why it must not be taken for complete."""

    @property
    def user(self) -> str:
        return self.connection.user

    def cancel(self, reason: str) -> None:
        """Whoever fetches it gets an error, and what still runs is dropped."""
        self.stopped = reason
        self.result.stop(reason)
        self.result.close()

    def close(self) -> None:
        self.result.close()
