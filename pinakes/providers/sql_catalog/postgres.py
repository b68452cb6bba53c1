"""PostgreSQL, through psycopg."""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql as compose

from pinakes.core.tcp_info import received_bytes
from pinakes.core.waiting import BREAKS
from pinakes.providers.answers import MALFORMED, AnswerTooLarge, Meter
from pinakes.providers.sql_catalog.database import Dialect, Value
from pinakes.providers.sql_catalog.driver import Connector, Fault

DIALECT = Dialect(
    columns="""SELECT table_name, column_name FROM information_schema.columns
               WHERE table_schema = ANY (current_schemas(false))
               AND table_name IN ('iceberg_tables', 'iceberg_namespace_properties')""",
    order=' COLLATE "C"',
)

# SQLSTATE: the full code, or its class
_FAULTS = {
    "23505": Fault.TAKEN,
    "42P07": Fault.CONFLICT,  # the table was created concurrently
    "40": Fault.CONFLICT,
    "08": Fault.BROKEN,
    "57P01": Fault.BROKEN,
    "57P02": Fault.BROKEN,
    "57P03": Fault.UNAVAILABLE,
    "57P05": Fault.BROKEN,
    "25P03": Fault.BROKEN,
    "57": Fault.UNAVAILABLE,
    "55": Fault.UNAVAILABLE,
    "53": Fault.UNAVAILABLE,
    "3D": Fault.UNAVAILABLE,
    "42501": Fault.DENIED,
    "25006": Fault.DENIED,
    "28": Fault.DENIED,
    "22": Fault.TOO_LONG,
}
# Messages of failed connection attempts, for which libpq gives no code.
_REFUSALS = ("password authentication failed", "no pg_hba.conf entry", "no password supplied", "authentication method")
_DEFINITIONS = 7_266_511_020_191_116
"""The advisory lock of schema changes: an arbitrary number that all our processes share."""


LARGEST_LOGIN = 256 << 10
"""Bytes of the answers to a login. libpq takes time that is quadratic in the settings that a server sends there."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection whose answers are bounded. libpq keeps a complete answer in memory. It reads a single value for as
    long as more of it has arrived: a server that sends as fast as it reads gets past the bound with that value.
    """

    seconds = 60.0
    """How long one answer may take."""

    @classmethod
    def _connect_gen(cls, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        """Bounds the answers to the login, too; these have a time limit (connect_timeout)."""
        return _metered(super()._connect_gen(*args, **kwargs), None, Meter(math.inf, LARGEST_LOGIN))

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        return super().wait(_metered(gen, self.pgconn.socket, Meter(self.seconds)), *args, **kwargs)


def _metered(gen: Any, descriptor: int | None, meter: Meter) -> Generator[Any, Any, Any]:
    """Passes on what a generator of psycopg waits for, and checks the bounds each time it goes on. Without a descriptor
    it is the generator of a new connection, which yields one.
    """
    sockets, start = _Sockets(), 0
    try:
        state = next(gen)
        start = 0 if descriptor is None else sockets.received(descriptor)
        while True:
            ready = yield state
            meter.total(sockets.received(state[0] if descriptor is None else descriptor) - start)
            state = gen.send(ready)
    except StopIteration as end:
        return end.value
    except AnswerTooLarge as error:
        gen.close()
        raise psycopg.OperationalError(str(error)) from error
    finally:
        sockets.close()


class _Sockets:
    """The socket of a connection, by another descriptor: counts its bytes and hangs up."""

    def __init__(self) -> None:
        self._known: dict[int, socket.socket] = {}

    def received(self, descriptor: int) -> int:
        """Returns the bytes received so far; 0 where the system does not count them."""
        found = self._known.get(descriptor)
        if found is None:
            found = self._known[descriptor] = socket.socket(fileno=os.dup(descriptor))
            if (breaks := BREAKS.get()) is not None:
                breaks.add(lambda: hang_up(found))
        return received_bytes(found) or 0

    def close(self) -> None:
        for found in self._known.values():
            found.close()


def hang_up(found: socket.socket) -> None:
    with suppress(OSError):  # it is closed
        found.shutdown(socket.SHUT_RDWR)


class PostgresDriver(Connector):
    errors: tuple[type[Exception], ...] = (psycopg.Error,)

    def connect(self) -> psycopg.Connection[Any]:
        user, password = self._login()
        connection = BoundedConnection.connect(
            **self._hosts(),
            **({} if self._access.ambient else _without_own_credentials()),
            dbname=self._address.database,
            user=user,
            # Given even when empty, and no file: otherwise libpq uses those of the user who runs this process.
            password=password,
            passfile=os.devnull,
            sslmode=self._address.ssl_mode,
            sslrootcert=self._address.ssl_root_cert or None,
            connect_timeout=max(2, round(self._connect_timeout)),  # libpq counts in seconds, and no fewer than two
            tcp_user_timeout=round(self._statement_timeout * 1000),
            application_name="pinakes",
            client_encoding="utf8",
            autocommit=True,
            prepare_threshold=None,  # a pooler in between may not support prepared statements
        )
        connection.seconds = self._statement_timeout
        milliseconds = compose.Literal(round(self._statement_timeout * 1000))
        settings = [compose.SQL("SET statement_timeout = {}").format(milliseconds)]
        if self._address.schema:
            settings.append(compose.SQL("SET search_path TO {}").format(compose.Identifier(self._address.schema)))
        connection.execute(compose.SQL("; ").join(settings))
        return connection

    def _hosts(self) -> dict[str, Any]:
        """Returns libpq's lists of hosts and ports; under an outbound policy with the checked addresses, to which libpq
        connects without resolving the names again.
        """
        found, outbound = self._address.destinations, self._access.outbound
        if outbound is None:
            return {"host": ",".join(d.host for d in found), "port": ",".join(str(d.port) for d in found)}
        try:
            checked = [(d.host, str(d.port), address) for d in found for address in outbound.addresses(d)]
        except socket.gaierror as error:
            raise psycopg.OperationalError(f"no host has the name {found[0].host}") from error
        return dict(zip(("host", "port", "hostaddr"), map(",".join, zip(*checked, strict=True)), strict=True))

    def disconnect(self, connection: psycopg.Connection[Any]) -> None:
        connection.close()

    def execute(
        self, connection: psycopg.Connection[Any], sql: str, values: Sequence[Value]
    ) -> tuple[list[tuple[Value, ...]], int]:
        try:
            cursor = connection.execute(sql.replace("?", "%s").encode(), values or None)
            return (cursor.fetchall() if cursor.description else []), cursor.rowcount
        except UnicodeEncodeError:
            raise  # one of our values
        except MALFORMED as error:
            raise psycopg.OperationalError("the answer is malformed") from error

    def begin(self, connection: psycopg.Connection[Any], *, serializable: bool) -> None:
        connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE" if serializable else "BEGIN")

    def define(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_DEFINITIONS,))

    def fault(self, error: Exception) -> Fault:
        if isinstance(error.__cause__, AnswerTooLarge):
            return Fault.UNAVAILABLE
        state = getattr(error, "sqlstate", None)
        if state is None:
            return _without_state(error)
        return _FAULTS.get(state) or _FAULTS.get(state[:2]) or Fault.OTHER

    def dialect(self, connection: psycopg.Connection[Any]) -> Dialect:
        return DIALECT


def _without_own_credentials() -> dict[str, Any]:
    """Returns settings that keep libpq from using the client certificate and the Kerberos ticket of the user who runs
    this process.
    """
    nowhere = f"{os.devnull}/none"
    found = {"sslcert": nowhere, "sslkey": nowhere, "gssencmode": "disable"}
    return {**found, "require_auth": "!gss,!sspi"} if psycopg.pq.version() >= 160000 else found


def _without_state(error: Exception) -> Fault:
    text = str(error)
    if any(refusal in text for refusal in _REFUSALS):
        return Fault.DENIED
    if isinstance(error, psycopg.DataError):  # a NUL character, found before anything was sent
        return Fault.TOO_LONG
    # Other errors without a code are libpq's and psycopg's own, about answers that break the protocol.
    return Fault.BROKEN if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else Fault.UNAVAILABLE
