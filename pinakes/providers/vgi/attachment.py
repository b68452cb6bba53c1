"""An attachment to a worker: its connections, and the data that the worker issued for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pinakes.core.errors import InvalidArgument, listing
from pinakes.providers.vgi.errors import translated
from pinakes.worker.catalog.infos import CatalogAttachResult
from pinakes.worker.catalog.names import AttachOpaqueData
from pinakes.worker.client.catalog_mixin import CatalogClientMixin
from pinakes.worker.client.connection import Check, Connection
from pinakes.worker.client.location import Connect, Location
from pinakes.worker.client.pool import Pool
from pinakes.worker.client.response_metadata import LOGGER
from pinakes.worker.exceptions import WorkerDied, WorkerError
from pinakes.worker.wire.methods import METHODS

T = TypeVar("T")


class Attachment(CatalogClientMixin):
    """A client of a worker that is attached to one of its catalogs. Threads share it."""

    def __init__(
        self,
        alias: str,
        location: Location,
        *,
        catalog: str | None,
        options: Mapping[str, Any],
        timeout: float,
        workers: int,
        token: str | None,
        connect: Connect | None = None,
    ) -> None:
        self.alias = alias
        self.is_remote = location.kind in ("http", "https")
        self.timeout = timeout
        self._wanted, self._options = catalog, dict(options)
        self._lock = threading.Lock()
        self._result: CatalogAttachResult | None = None
        self._stale = False
        connector = location.connector(name=alias, token=token, connect_timeout=timeout, connect=connect)
        self._pool = Pool(connector, size=workers)
        self.workers = workers

    # --- the attached catalog -------------------------------------------------------------------------------------

    @property
    def attached(self) -> CatalogAttachResult:
        """The worker's description of the catalog. If the worker process died, the catalog is attached again, unless
        the worker requires that its attachment is kept: the new process does not know the data that the old one issued.
        """
        result = self._result
        if result is not None and not self._stale:
            return result
        with self._lock:
            if self._result is None or self._stale:
                self._stale = False
                self._result = self.catalog_attach(name=self._chosen(), options=self._options)
            return self._result

    @property
    def data(self) -> AttachOpaqueData:
        return self.attached.attach_opaque_data

    def _chosen(self) -> str:
        if self._wanted is not None:
            return self._wanted
        known = self.catalogs()
        if self.alias in known:
            return self.alias
        if len(known) != 1:
            raise InvalidArgument(
                f"the worker of catalog '{self.alias}' has the catalogs {listing(known)}: say which, as in "
                f"ATTACH … (CATALOG '{known[0] if known else 'name'}')"
            )
        return known[0]

    # --- calls ----------------------------------------------------------------------------------------------------

    def call(self, method: str, values: Mapping[str, Any] | None = None) -> bytes | None:
        given = dict(values or {})
        is_repeatable = METHODS[method].repeatable and given.get("transaction_opaque_data") is None
        return self.run(
            lambda connection: connection.call(method, given, timeout=self.timeout), is_repeatable=is_repeatable
        )

    def run(self, function: Callable[[Connection], T], *, is_repeatable: bool = True) -> T:
        """Returns the response of a connection. A repeatable request is retried on a new process if the idle process
        had ended before it received the request.
        """
        with translated(self.alias):
            try:
                return self._once(function, fresh=False)
            except WorkerDied as error:
                if not is_repeatable or not error.unheard:
                    raise
                LOGGER.info("catalog '%s': %s; the request is sent once more", self.alias, error)
            return self._once(function, fresh=True)

    def _once(self, function: Callable[[Connection], T], *, fresh: bool) -> T:
        taken = self._pool.take(fresh=fresh)
        assert taken is not None
        try:
            return function(taken)
        except WorkerDied:
            self.died()
            raise
        finally:
            self._pool.give_back(taken)

    def take(self, *, wait: bool = True) -> Connection | None:
        """Takes a connection; the caller returns it with `give_back`."""
        return self._pool.take(wait=wait)

    def begun(self, connection: Connection, begin: Callable[[Connection], T]) -> tuple[Connection, T]:
        """Begins a stream on a taken connection, or on a new one if the idle process had ended. If the stream can't
        begin, the connection is returned.
        """
        try:
            return connection, begin(connection)
        except WorkerDied as error:
            self.died()
            self.give_back(connection)
            if not error.unheard:
                raise
        except BaseException:
            self.give_back(connection)
            raise
        fresh = self._pool.take(fresh=True)
        assert fresh is not None
        try:
            return fresh, begin(fresh)
        except BaseException:
            self.give_back(fresh)
            raise

    def give_back(self, connection: Connection) -> None:
        self._pool.give_back(connection)

    def died(self) -> None:
        """Records that a process of the worker died."""
        if self._result is not None and not self._result.attach_opaque_data_required:
            self._stale = True

    def close(self) -> None:
        result, self._result = self._result, None
        try:
            if result is not None:
                self.catalog_detach(attach_opaque_data=result.attach_opaque_data)
        except (WorkerError, Exception) as error:  # noqa: BLE001 - the worker may have ended already
            LOGGER.debug("catalog '%s' could not be notified of DETACH: %s", self.alias, error)
        finally:
            self._pool.close()

    def patience(self, check: Check | None) -> dict[str, Any]:
        """Returns the timeout and the cancellation check of a function call."""
        return {"timeout": self.timeout, "check": check}
