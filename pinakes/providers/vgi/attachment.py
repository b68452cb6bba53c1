"""An attachment to a worker: its connections, and what the worker gave out for it."""

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
from pinakes.worker.client.told import LOGGER
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

    # --- what it is attached to -----------------------------------------------------------------------------------

    @property
    def attached(self) -> CatalogAttachResult:
        """What the worker said of the catalog. One that does not require its attachment to be kept is attached anew
        when it has died: the process that comes after it knows nothing of what it gave out."""
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
        asked = dict(values or {})
        again = METHODS[method].repeatable and asked.get("transaction_opaque_data") is None
        return self.asked(lambda connection: connection.call(method, asked, timeout=self.timeout), again=again)

    def asked(self, ask: Callable[[Connection], T], *, again: bool = True) -> T:
        """What a connection answers. What only reads is asked `again`, of a new process, when that which was to answer
        had ended while nobody used it."""
        with translated(self.alias):
            try:
                return self._once(ask, fresh=False)
            except WorkerDied as error:
                if not again or not error.unheard:
                    raise
                LOGGER.info("catalog '%s': %s; it is asked once more", self.alias, error)
            return self._once(ask, fresh=True)

    def _once(self, ask: Callable[[Connection], T], *, fresh: bool) -> T:
        taken = self._pool.take(fresh=fresh)
        assert taken is not None
        try:
            return ask(taken)
        except WorkerDied:
            self.died()
            raise
        finally:
            self._pool.give_back(taken)

    def take(self, *, wait: bool = True) -> Connection | None:
        """A connection that is given back later."""
        return self._pool.take(wait=wait)

    def begun(self, connection: Connection, begin: Callable[[Connection], T]) -> tuple[Connection, T]:
        """A stream that has begun on a connection that was taken, or, if its process had ended while nobody used it, on
        a new one in its place. One that can't begin gives the connection back."""
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
        """A process of the worker is gone."""
        if self._result is not None and not self._result.attach_opaque_data_required:
            self._stale = True

    def close(self) -> None:
        result, self._result = self._result, None
        try:
            if result is not None:
                self.catalog_detach(attach_opaque_data=result.attach_opaque_data)
        except (WorkerError, Exception) as error:  # noqa: BLE001 - who detaches does not mind that it is gone already
            LOGGER.debug("catalog '%s' could not be told that it is detached: %s", self.alias, error)
        finally:
            self._pool.close()

    def patience(self, check: Check | None) -> dict[str, Any]:
        """How long a call of a function may be silent, and who may stop it."""
        return {"timeout": self.timeout, "check": check}
