"""What a library for a database server does for `server_database.py`, and what its errors mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Protocol

from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.sql_catalog.address import Address
from pinakes.providers.sql_catalog.database import Dialect, Value


class Fault(Enum):
    """What a driver's error means."""

    BROKEN = auto()  # the connection is gone
    CONFLICT = auto()  # rolled back because of another transaction; run again it may pass
    TAKEN = auto()  # a unique key
    DENIED = auto()
    TOO_LONG = auto()  # or otherwise a value that can't be stored
    UNAVAILABLE = auto()
    OTHER = auto()


class Connector:
    """Where a server is. `login` gives user and password when a connection is made, so that a secret is read as late as
    possible. `access` says where connections may lead, and whether this process may show who it is itself."""

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
    """What a database library does. A connection is whatever it uses; outside a transaction each statement commits."""

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    def connect(self) -> Any: ...

    def disconnect(self, connection: Any) -> None: ...

    def execute(self, connection: Any, sql: str, values: Sequence[Value]) -> tuple[list[tuple[Value, ...]], int]:
        """The rows, and how many were matched. `?` stands for a value."""
        ...

    def begin(self, connection: Any, *, serializable: bool) -> None: ...

    def define(self, connection: Any) -> None:
        """Within a transaction: let nobody else change the schema until it ends."""
        ...

    def fault(self, error: Exception) -> Fault: ...

    def dialect(self, connection: Any) -> Dialect:
        """What this server understands."""
        ...
