"""pyiceberg's Hive catalog, made thread-safe: a connection per call, with timeouts, and commits that report an unknown
outcome.
"""

from __future__ import annotations

import logging
import socket
import time
from typing import Any

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
from thrift.transport.TTransport import TTransportException

from pinakes.core.outbound import Outbound, destination_of
from pinakes.providers.metastore_client import Metastore

_POLL_SECONDS = 0.05

logging.getLogger("thrift.transport.TSocket").addFilter(lambda _: False)  # it logs the errors that it raises


class Connection(_HiveClient):
    """One connection, for one use."""

    def __init__(self, timeout: float, outbound: Outbound | None, *args: Any) -> None:
        self._timeout, self._outbound = timeout, outbound
        super().__init__(*args)

    def _init_thrift_transport(self) -> Any:
        transport = super()._init_thrift_transport()
        inner = getattr(transport, "_TBufferedTransport__trans", None) or getattr(transport, "transport", transport)
        inner.setTimeout(self._timeout * 1000)
        if self._outbound is not None:
            try:  # the checked address; thrift would resolve the name again
                inner.host = self._outbound.addresses(destination_of(self._uri))[0]
            except socket.gaierror as error:
                raise TTransportException(TTransportException.NOT_OPEN, "no host has this name") from error
        return transport


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
        raise CommitFailedException(f"{database_name}.{table_name} is locked by somebody else")
