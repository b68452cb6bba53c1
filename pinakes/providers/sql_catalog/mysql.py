"""MySQL and MariaDB, through PyMySQL."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pymysql
from pymysql.constants import CLIENT
from pymysql.constants import CR as CLIENT_ERROR
from pymysql.constants import ER as SERVER_ERROR

from pinakes.core.errors import InvalidArgument
from pinakes.core.waiting import BREAKS
from pinakes.providers.answers import MALFORMED, AnswerTooLarge, Meter
from pinakes.providers.sql_catalog.address import Address
from pinakes.providers.sql_catalog.database import Dialect, Value
from pinakes.providers.sql_catalog.driver import Connector, Fault

_COLUMNS = """SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()
              AND table_name IN ('iceberg_tables', 'iceberg_namespace_properties')"""
_COLLATIONS = ("utf8mb4_nopad_bin", "utf8mb4_0900_bin", "utf8mb4_bin")
"""Collations by code points; the first two, of MariaDB and of MySQL 8, also distinguish 'a' from 'a '."""

_CHANGED_SINCE_READ, _KILLED_BY_MARIADB, _SHUTDOWN, _STATEMENT_TIME = 1020, 1927, 1053, 1969
_FAULTS = {
    SERVER_ERROR.DUP_ENTRY: Fault.TAKEN,
    SERVER_ERROR.TABLE_EXISTS_ERROR: Fault.CONFLICT,
    SERVER_ERROR.DUP_FIELDNAME: Fault.CONFLICT,  # upgraded concurrently
    SERVER_ERROR.LOCK_DEADLOCK: Fault.CONFLICT,
    SERVER_ERROR.LOCK_WAIT_TIMEOUT: Fault.CONFLICT,
    _CHANGED_SINCE_READ: Fault.CONFLICT,
    CLIENT_ERROR.CR_SERVER_GONE_ERROR: Fault.BROKEN,
    CLIENT_ERROR.CR_SERVER_LOST: Fault.BROKEN,
    CLIENT_ERROR.CR_CONN_HOST_ERROR: Fault.BROKEN,
    CLIENT_ERROR.CR_COMMANDS_OUT_OF_SYNC: Fault.BROKEN,
    _KILLED_BY_MARIADB: Fault.BROKEN,
    _SHUTDOWN: Fault.BROKEN,
    0: Fault.BROKEN,  # PyMySQL's own: the connection is closed
    CLIENT_ERROR.CR_SSL_CONNECTION_ERROR: Fault.UNAVAILABLE,
    CLIENT_ERROR.CR_MALFORMED_PACKET: Fault.UNAVAILABLE,
    SERVER_ERROR.CON_COUNT_ERROR: Fault.UNAVAILABLE,
    SERVER_ERROR.BAD_DB_ERROR: Fault.UNAVAILABLE,
    SERVER_ERROR.QUERY_INTERRUPTED: Fault.UNAVAILABLE,
    _STATEMENT_TIME: Fault.UNAVAILABLE,
    SERVER_ERROR.ACCESS_DENIED_ERROR: Fault.DENIED,
    SERVER_ERROR.DBACCESS_DENIED_ERROR: Fault.DENIED,
    SERVER_ERROR.TABLEACCESS_DENIED_ERROR: Fault.DENIED,
    SERVER_ERROR.COLUMNACCESS_DENIED_ERROR: Fault.DENIED,
    SERVER_ERROR.SPECIFIC_ACCESS_DENIED_ERROR: Fault.DENIED,
    SERVER_ERROR.OPTION_PREVENTS_STATEMENT: Fault.DENIED,
    SERVER_ERROR.DATA_TOO_LONG: Fault.TOO_LONG,
    SERVER_ERROR.TRUNCATED_WRONG_VALUE_FOR_FIELD: Fault.TOO_LONG,
}


_IN_CLEAR = ("mysql_clear_password", "dialog")
"""Ways to log in that send the password as it is. The server chooses the way."""
_PIECE = 1 << 16


class BoundedConnection(pymysql.Connection):  # type: ignore[misc]
    """A connection whose answers are bounded, and which sends no password in clear."""

    def __init__(self, seconds: float, **options: Any) -> None:
        self._seconds, self._meter = seconds, Meter(seconds)
        super().__init__(**options)

    def connect(self, sock: socket.socket | None = None) -> None:
        self._meter = Meter(self._seconds)
        super().connect(sock)

    def hang_up(self) -> None:
        if self._sock is not None:
            try:
                self._sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it is closed

    def _execute_command(self, command: int, sql: str | bytes) -> None:
        self._meter = Meter(self._seconds)
        super()._execute_command(command, sql)

    def _read_bytes(self, num_bytes: int) -> bytes:
        """Reads in pieces, as they come: the bounds hold between two of them."""
        parts: list[bytes] = []
        try:
            self._meter.take(num_bytes)
            while num_bytes > 0:
                part = self._rfile.read1(min(num_bytes, _PIECE))
                if not part:
                    raise ConnectionResetError("the server hung up")
                parts.append(part)
                num_bytes -= len(part)
                self._meter.take(0)
        except (AnswerTooLarge, OSError) as error:
            self._force_close()
            kind = CLIENT_ERROR.CR_SERVER_LOST if isinstance(error, OSError) else CLIENT_ERROR.CR_MALFORMED_PACKET
            raise pymysql.OperationalError(kind, f"the connection was lost during a statement: {error}") from error
        except BaseException:
            self._force_close()
            raise
        return b"".join(parts)

    def _process_auth(self, plugin_name: bytes, *args: Any) -> Any:
        name = plugin_name.decode(errors="replace")
        if name in _IN_CLEAR and not self._secure:
            raise pymysql.OperationalError(
                SERVER_ERROR.ACCESS_DENIED_ERROR,
                f"the server wants the password in clear ({name}), which is not sent without TLS; use SSL_MODE require",
            )
        return super()._process_auth(plugin_name, *args)


@contextmanager
def _malformed() -> Iterator[None]:
    """PyMySQL raises errors of Python for answers that break the protocol."""
    try:
        yield
    except UnicodeEncodeError:
        raise  # one of our values
    except (struct.error, *MALFORMED) as error:
        raise pymysql.OperationalError(CLIENT_ERROR.CR_MALFORMED_PACKET, "the answer is malformed") from error


@contextmanager
def _breakable(connection: BoundedConnection) -> Iterator[None]:
    """Hangs up when the statement that waits for the answer is stopped."""
    breaks, waits = BREAKS.get(), [True]
    if breaks is not None:
        breaks.add(lambda: connection.hang_up() if waits else None)
    try:
        yield
    finally:
        waits.clear()


class MySqlDriver(Connector):
    errors: tuple[type[Exception], ...] = (pymysql.MySQLError,)

    def connect(self) -> BoundedConnection:
        user, password = self._login()
        connection = BoundedConnection(
            self._statement_timeout,
            host=self._address.host,
            port=self._address.port,
            database=self._address.database,
            user=user,
            password=password,
            charset="utf8mb4",
            autocommit=True,
            # An UPDATE counts the matched rows, including those that already had the value.
            client_flag=CLIENT.FOUND_ROWS,
            # Strict mode: a name that is too long is an error, and not truncated. The lock wait timeout is the
            # server's.
            sql_mode="STRICT_ALL_TABLES",
            init_command="SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            connect_timeout=max(1, round(self._connect_timeout)),
            read_timeout=self._statement_timeout,
            write_timeout=self._statement_timeout,
            read_default_file=None,
            defer_connect=True,
            **_ssl(self._address),
        )
        found = self._socket()
        with _malformed(), _breakable(connection):
            connection.connect(found)
        return connection

    def _socket(self) -> socket.socket | None:
        """Returns a connection to a checked address under an outbound policy: PyMySQL would resolve the name itself."""
        outbound, (destination, *_) = self._access.outbound, self._address.destinations
        if outbound is None:
            return None
        try:
            found = outbound.connect(destination, max(1, round(self._connect_timeout)))
        except OSError as error:
            raise pymysql.OperationalError(
                CLIENT_ERROR.CR_CONN_HOST_ERROR, f"can't connect to {destination}: {error}"
            ) from error
        found.settimeout(None)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return found

    def disconnect(self, connection: BoundedConnection) -> None:
        connection.close()

    def execute(
        self, connection: BoundedConnection, sql: str, values: Sequence[Value]
    ) -> tuple[list[tuple[Value, ...]], int]:
        with _malformed(), _breakable(connection), connection.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s"), tuple(values) or None)
            return list(cursor.fetchall()), cursor.rowcount

    def begin(self, connection: BoundedConnection, *, serializable: bool) -> None:
        if serializable:
            connection.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        connection.query("START TRANSACTION")

    def define(self, connection: BoundedConnection) -> None:
        """Does nothing: each definition is its own transaction here. A concurrent one fails with a conflict and is
        retried.
        """

    def fault(self, error: Exception) -> Fault:
        code = error.args[0] if error.args else 0
        return _FAULTS.get(code, Fault.OTHER) if isinstance(code, int) else Fault.UNAVAILABLE  # PyMySQL's own text

    def dialect(self, connection: BoundedConnection) -> Dialect:
        rows, _ = self.execute(connection, "SHOW COLLATION WHERE Charset = 'utf8mb4'", ())
        there = {row[0] for row in rows}
        collation = next((name for name in _COLLATIONS if name in there), None)
        if collation is None:
            raise pymysql.OperationalError(
                CLIENT_ERROR.CR_MALFORMED_PACKET, f"the server has none of the collations {', '.join(_COLLATIONS)}"
            )
        return Dialect(
            columns=_COLUMNS,
            value=f"? COLLATE {collation}",
            exact=f"CONVERT({{}} USING utf8mb4) COLLATE {collation}",
            # Three names of 255 characters make a key of 3060 bytes, which this row format allows.
            table_options=f" ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE={collation}",
        )


def _ssl(address: Address) -> dict[str, Any]:
    """Returns PyMySQL's arguments. With `prefer` it encrypts if the server supports it, which is PyMySQL's default."""
    if address.ssl_mode == "disable":
        return {"ssl_disabled": True}
    if address.ssl_mode == "prefer":
        return {}
    try:
        context = ssl.create_default_context(cafile=address.ssl_root_cert or None)
    except OSError as error:
        raise InvalidArgument(f"SSL_ROOT_CERT {address.ssl_root_cert} can't be read: {error.strerror}") from error
    context.check_hostname = address.ssl_mode == "verify-full"
    if address.ssl_mode == "require":
        context.verify_mode = ssl.CERT_NONE
    return {"ssl": context}
