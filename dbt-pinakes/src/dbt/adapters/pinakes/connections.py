"""What dbt does with connections: opening, naming what went wrong, cancelling, and what a statement answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from adbc_driver_manager import Error
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sql import SQLConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.pinakes.errors import breaks_the_connection, translated
from dbt.adapters.pinakes.handle import Cursor, Handle
from dbt.adapters.pinakes.types import sql_name

logger = AdapterLogger("Pinakes")


class PinakesConnectionManager(SQLConnectionManager):  # type: ignore[misc]
    TYPE = "pinakes"

    # --- opening and closing ---------------------------------------------------------------------------------------

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials = connection.credentials
        try:
            handle = Handle(credentials)
        except Error as error:
            connection.handle, connection.state = None, ConnectionState.FAIL
            raise translated(error, credentials.unique_field) from error
        connection.handle, connection.state = handle, ConnectionState.OPEN
        return connection

    def release(self) -> None:
        """A node is done: its thread keeps the session for the next one, if that finds it as a new one would be."""
        connection = self.get_if_exists()
        if connection is not None and connection.state == ConnectionState.OPEN and not connection.handle.is_as_opened:
            self.close(connection)

    @classmethod
    def _close_handle(cls, connection: Connection) -> None:
        try:
            super()._close_handle(connection)
        except Error as error:  # the server is gone, and the session with it
            logger.debug(f"closing connection {connection.name}: {error}")

    def cancel(self, connection: Connection) -> None:
        try:
            connection.handle.cancel()
        except Error as error:  # it ended by itself, or its server did
            logger.debug(f"cancelling {connection.name}: {error}")

    # --- statements ------------------------------------------------------------------------------------------------

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except Error as error:
            connection = self.get_thread_connection()
            connection.handle.broken = breaks_the_connection(error)
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise translated(error, connection.credentials.unique_field) from error
        except DbtRuntimeError:
            raise
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise DbtRuntimeError(str(error)) from error

    @classmethod
    def get_response(cls, cursor: Cursor) -> AdapterResponse:
        rows = cursor.rowcount
        if rows < 0:
            return AdapterResponse(_message="OK", code="OK")
        return AdapterResponse(_message=f"OK {rows} row{'' if rows == 1 else 's'}", code="OK", rows_affected=rows)

    @classmethod
    def data_type_code_to_name(cls, type_code: pa.DataType) -> str:
        return sql_name(type_code)

    # --- transactions: there are none that could span what dbt does --------------------------------------------------

    def begin(self) -> None:
        """Each statement is its own commit."""

    def commit(self) -> None:
        """Each statement is its own commit."""

    def clear_transaction(self) -> None:
        """Nothing is open."""

    def add_begin_query(self, *_: Any, **__: Any) -> None:
        """Each statement is its own commit."""

    def add_commit_query(self, *_: Any, **__: Any) -> None:
        """Each statement is its own commit."""
