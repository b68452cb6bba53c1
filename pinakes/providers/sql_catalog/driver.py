"""The interface of a database client library to `server_database.py`, and the classification of its errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Protocol

from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.sql_catalog.address import Address
from pinakes.providers.sql_catalog.database import Dialect, Value


class Fault(Enum):
    """The meaning of a driver's error."""

    BROKEN = auto()  # the connection is lost
    CONFLICT = auto()  # rolled back because of another transaction; a retry may succeed
    TAKEN = auto()  # a unique key
    DENIED = auto()
    TOO_LONG = auto()  # or a value that can't be stored for another reason
    UNAVAILABLE = auto()
    OTHER = auto()


class Connector:
    """The connection parameters of a server. `login` returns user and password when a connection is made, so that a
    secret is read as late as possible. `access` has the outbound policy, and whether the credentials of this process
    may be used.
    """

    def __init__(
        self,
        address: Address,
        login: Callable[[], tuple[str, str]],
        connect_timeout: float,
        statement_timeout: float,
        access: Access = ANONYMOUS,
    ) -> None:
        self._access = access
        self._address = address
        self._login = login
        self._connect_timeout = connect_timeout
        self._statement_timeout = statement_timeout


class Driver(Protocol):
    """A database client library. A connection is the library's own object; outside a transaction each statement
    commits.
    """

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    def connect(self) -> Any: ...

    def disconnect(self, connection: Any) -> None: ...

    def execute(self, connection: Any, sql: str, values: Sequence[Value]) -> tuple[list[tuple[Value, ...]], int]:
        """Returns the rows and the number of matched rows. `?` stands for a value."""
        ...

    def begin(self, connection: Any, *, serializable: bool) -> None: ...

    def define(self, connection: Any) -> None:
        """Within a transaction: prevents other schema changes until it ends."""
        ...

    def fault(self, error: Exception) -> Fault: ...

    def dialect(self, connection: Any) -> Dialect:
        """Returns the dialect of the server."""
        ...
