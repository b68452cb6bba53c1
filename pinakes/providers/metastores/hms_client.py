"""pyiceberg's Hive catalog, made thread-safe: a connection per call, with timeouts, and commits that report an unknown
outcome.
"""

from __future__ import annotations

import logging
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import CheckLockRequest, LockResponse, LockState
from pyiceberg.catalog import PropertiesUpdateSummary
from pyiceberg.catalog.hive import (
    COMMENT,
    HIVE_KERBEROS_AUTH,
    HIVE_KERBEROS_SERVICE_NAME,
    HiveCatalog,
    _annotate_namespace,
    _HiveClient,
)
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchNamespaceError
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TProtocol import TProtocolException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TSaslClientTransport, TTransportException

from pinakes.core.access.outbound import Outbound, destination_of
from pinakes.core.waiting import BREAKS, waited
from pinakes.providers.answers import LARGEST_ANSWER, AnswerTooLarge, Meter
from pinakes.providers.metastores.client import Metastore

T = TypeVar("T")

MOST_ELEMENTS = 1_000_000
"""How many elements the lists and maps of an answer may have together. One of a byte becomes an object."""
_MALFORMED = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, UnicodeDecodeError, struct.error)
"""What thrift and pyiceberg raise for answers that break the protocol, or lack what they need."""
_POLL_SECONDS = 0.05

logging.getLogger("thrift.transport.TSocket").addFilter(lambda _: False)  # it logs the errors that it raises


class BoundedSocket(TSocket):  # type: ignore[misc]
    """A socket whose answers are bounded. An answer may take four times as long as one piece of it."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        super().__init__(host, port)
        self.setTimeout(timeout * 1000)
        self._seconds = 4 * timeout
        self._meter = Meter(self._seconds)

    def open(self) -> None:
        super().open()
        if (breaks := BREAKS.get()) is not None:
            breaks.add(self._hang_up)

    def write(self, buff: bytes) -> None:
        self._meter = Meter(self._seconds)
        super().write(buff)

    def read(self, sz: int) -> bytes:
        found = bytes(super().read(min(sz, 1 << 16)))
        try:
            self._meter.take(len(found))
        except AnswerTooLarge as error:
            raise TTransportException(TTransportException.UNKNOWN, str(error)) from error
        return found

    def _hang_up(self) -> None:
        if (handle := self.handle) is not None:
            with suppress(OSError):  # it is closed
                handle.shutdown(socket.SHUT_RDWR)


class BoundedProtocol(TBinaryProtocol):  # type: ignore[misc]
    """Refuses texts and lists whose size can't be right, before they are read."""

    def __init__(self, transport: Any) -> None:
        super().__init__(transport, string_length_limit=LARGEST_ANSWER, container_length_limit=MOST_ELEMENTS)
        self._left = MOST_ELEMENTS

    def _check_container_length(self, length: int) -> None:
        super()._check_container_length(length)
        self._left -= length
        if self._left < 0:
            raise TProtocolException(TProtocolException.SIZE_LIMIT, f"more than {MOST_ELEMENTS} elements in an answer")


class Connection(_HiveClient):
    """One connection, for one use."""

    def __init__(self, timeout: float, outbound: Outbound | None, *args: Any) -> None:
        self._timeout, self._outbound = timeout, outbound
        super().__init__(*args)

    def _init_thrift_transport(self) -> Any:
        destination = destination_of(self._uri)
        host = destination.host
        if self._outbound is not None:
            try:  # the checked address; thrift would resolve the name again
                host = self._outbound.addresses(destination)[0]
            except socket.gaierror as error:
                raise TTransportException(TTransportException.NOT_OPEN, "no host has this name") from error
        inner = BoundedSocket(host, destination.port, self._timeout)
        if not self._kerberos_auth:
            return TBufferedTransport(inner)
        return TSaslClientTransport(inner, host=destination.host, service=self._kerberos_service_name)

    def _client(self) -> Client:
        client = Client(BoundedProtocol(self._transport))
        if self._ugi:
            client.set_ugi(*self._ugi)
        return client


def _read(call: Callable[[], T]) -> T:
    """Reads from the metastore: left when the statement is cancelled, and with one error for all malformed answers."""
    try:
        return waited(call)
    except _MALFORMED as error:
        raise TProtocolException(TProtocolException.INVALID_DATA, "the answer is malformed") from error


class HiveClientCatalog(Metastore, HiveCatalog):
    """The metastore. `timeout` is in seconds, for each response and for a lock."""

    def __init__(self, name: str, timeout: float, outbound: Outbound | None = None, **properties: str) -> None:
        self._timeout, self._outbound = timeout, outbound
        super().__init__(name, **properties)

    @property
    def _client(self) -> Connection:
        """Returns a new connection each time: a connection serves one thread at a time."""
        return Connection(
            self._timeout,
            self._outbound,
            self.properties["uri"],
            self.properties.get("ugi"),
            self.properties[HIVE_KERBEROS_AUTH] == "true",
            self.properties[HIVE_KERBEROS_SERVICE_NAME],
        )

    @_client.setter
    def _client(self, _: object) -> None:
        """Ignores the shared connection that pyiceberg creates on initialisation."""

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        return _read(lambda: super(HiveClientCatalog, self).list_tables(namespace))

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        return _read(lambda: super(HiveClientCatalog, self).list_namespaces(namespace))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        return _read(lambda: super(HiveClientCatalog, self).load_namespace_properties(namespace))

    def load_table(self, identifier: str | Identifier) -> Table:
        return _read(lambda: super(HiveClientCatalog, self).load_table(identifier))

    def update_namespace_properties(
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        """Updates properties including the comment and the location, which are fields of a database, not parameters;
        pyiceberg changes neither.
        """
        current = self.load_namespace_properties(namespace)
        if COMMENT in current and COMMENT in (removals or ()):
            raise NotImplementedError("a Hive metastore never forgets the comment of a database; change it instead")
        summary, properties = self._get_updated_props_and_update_summary(current, removals, updates)
        with self._client as client:
            database = client.get_database(self.identifier_to_database(namespace, NoSuchNamespaceError))
            client.alter_database(database.name, _annotate_namespace(database, properties))
        return summary

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        try:
            return super().commit_table(table, requirements, updates)
        except TTransportException as error:
            if error.type == TTransportException.NOT_OPEN:
                raise  # not connected: nothing was sent
            raise CommitStateUnknownException("the metastore did not answer") from error

    def _wait_for_lock(self, database_name: str, table_name: str, lockid: int, open_client: Any) -> LockResponse:
        """Polls at a short interval; pyiceberg waits two seconds before its first check."""
        deadline = time.monotonic() + self._timeout
        while time.monotonic() < deadline:
            response = open_client.check_lock(CheckLockRequest(lockid=lockid))
            if response.state == LockState.ACQUIRED:
                return response
            if response.state != LockState.WAITING:
                break
            time.sleep(_POLL_SECONDS)
        raise CommitFailedException(f"{database_name}.{table_name} is locked by another writer")
