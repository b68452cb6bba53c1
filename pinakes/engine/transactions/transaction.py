"""A transaction of a session, from BEGIN to COMMIT or ROLLBACK.

Each table is read at one state, that of its first use, with the transaction's own changes applied (`work.py`);
`overlay.py` shows the catalogs so. Nothing reaches a catalog before COMMIT, which gives it all changes at once: it
makes them all or none. That is snapshot isolation: whoever changed a table of it meanwhile makes COMMIT fail.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pinakes.caches.catalog import forget_catalog
from pinakes.core.catalog import Catalog, RunningTransaction, SupportsOwnTransactions, SupportsTransactions
from pinakes.core.errors import (
    CommitConflict,
    CommitUnknown,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
    TransactionAborted,
)
from pinakes.core.names import Namespace
from pinakes.engine.registry import Mount

if TYPE_CHECKING:
    from pinakes.engine.transactions.work import TableWork

logger = logging.getLogger(__name__)

WorkKey = tuple[Mount, Namespace, str]


class Transaction:
    """It is an `Overlay` of `engine/mounts.py`."""

    def __init__(self, *, read_only: bool = False) -> None:
        self.transaction_id = uuid.uuid4().hex
        self.created = self.last_used = datetime.now(UTC)
        self.is_aborted = False
        self._is_over = False
        self.read_only = read_only
        self.works: dict[WorkKey, TableWork] = {}
        self.lock = threading.RLock()
        self._overlays: dict[Mount, tuple[Catalog, Catalog]] = {}
        self._own: dict[Mount, tuple[Catalog, RunningTransaction]] = {}
        """The catalogs that run transactions themselves, each with the one that runs."""
        self._changed: tuple[Mount, Catalog] | None = None

    # --- what the session's statements see --------------------------------------------------------------------------

    def over(self, mount: Mount, catalog: Catalog) -> Catalog:
        from pinakes.engine.transactions.overlay import overlay

        with self.lock:
            if isinstance(catalog, SupportsOwnTransactions) and catalog.runs_transactions:
                return self._running(mount, catalog)
            known = self._overlays.get(mount)
            if known is None or known[0] is not catalog:
                known = self._overlays[mount] = catalog, overlay(catalog, mount, self)
        return known[1]

    def _running(self, mount: Mount, catalog: SupportsOwnTransactions) -> Catalog:
        """A catalog that runs transactions itself begins one when it is first used."""
        known = self._own.get(mount)
        if known is None:
            if self._is_over:
                raise TransactionAborted("the transaction was ended while this statement ran in it")
            known = self._own[mount] = catalog, catalog.begin_transaction()
        return known[1]

    def claim(self, mount: Mount, catalog: Catalog) -> None:
        """Only one catalog can be changed: two can't commit at the same moment."""
        if self.read_only:
            raise PermissionDenied(
                f"this transaction is READ ONLY, so it can't change catalog '{mount.name}': ROLLBACK, and BEGIN another"
            )
        if self._changed is not None and self._changed[0] is not mount:
            raise NotSupportedError(
                f"this transaction has changed catalog '{self._changed[0].name}', so it can't change '{mount.name}': "
                f"no commit is atomic over two catalogs. COMMIT or ROLLBACK first."
            )
        own = isinstance(catalog, SupportsOwnTransactions) and catalog.runs_transactions
        if not own and not isinstance(catalog, SupportsTransactions):
            raise NotSupportedError(
                f"catalog '{mount.name}' (type {mount.type}) can't be changed in a transaction: it commits one table "
                f"at a time. ROLLBACK, and run the statement on its own."
            )
        self._changed = mount, catalog

    def check(self, kind: str) -> None:
        """Raise unless a statement of this kind may run in it now."""
        if self.is_aborted and kind not in ("Rollback", "Commit"):
            raise TransactionAborted(
                "this transaction is aborted, since a statement in it failed: nothing runs in it any more. "
                "ROLLBACK ends it."
            )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A statement changes a table of it within. Not any more once it is over: a statement that another thread began
        before would be told that it is done, and nobody would commit it."""
        with self.lock:
            if self._is_over:
                raise TransactionAborted(
                    "the transaction was ended while this statement ran in it: nothing was changed"
                )
            yield

    def used(self) -> None:
        """A statement in it ended."""
        self.last_used = datetime.now(UTC)

    @property
    def catalogs(self) -> list[str]:
        """Those that its statements use."""
        return sorted({mount.name for mount in (*self._overlays, *self._own)})

    @property
    def written_catalog(self) -> str | None:
        return None if self._changed is None else self._changed[0].name

    def abort(self) -> None:
        """A statement in it failed."""
        self.is_aborted = True

    # --- the end ----------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make all changes visible, or none. Over it is in any case."""
        with self.lock:
            self._is_over = True
            changes = [work.change() for work in self.works.values() if work.is_changed]
        self._end_own("commit")
        if not changes or self._changed is None:
            return
        _, catalog = self._changed
        assert isinstance(catalog, SupportsTransactions)
        try:
            catalog.commit_tables(changes)
        except CommitUnknown as error:
            if not self._is_visible(catalog):
                raise CommitUnknown(
                    f"it is not known whether all of the transaction was committed; look before you repeat it: "
                    f"{error.__cause__ or error.message}"
                ) from error
        except CommitConflict as error:
            self.rollback()
            raise CommitConflict(
                f"the transaction was rolled back: a table in it was changed by somebody else since the transaction "
                f"first read it (serialization failure: {error.__cause__ or error.message}). Run it again from BEGIN."
            ) from error
        except PinakesError:
            self.rollback()
            raise

    def _end_own(self, how: str) -> None:
        """End the transactions that catalogs run themselves. Only one of them can have changed anything (`claim`); it
        comes first, and if it fails, the others are rolled back."""
        with self.lock:
            own, self._own = self._own, {}
        changed = None if self._changed is None else self._changed[0]
        ordered = sorted(own.items(), key=lambda item: item[0] is not changed)
        for mount, (catalog, running) in ordered:
            try:
                getattr(running, how if mount is changed else "rollback")()
            except PinakesError:
                if mount is changed and how == "commit":
                    self._own = {m: o for m, o in own.items() if m is not mount}
                    self._end_own("rollback")
                    raise
                logger.warning("the transaction of catalog '%s' could not be ended", mount.name, exc_info=True)
            finally:
                forget_catalog(catalog)

    def rollback(self) -> None:
        """As if it had never been: its files go."""
        from pinakes.engine.transactions.discard import discard

        self._end_own("rollback")
        with self.lock:
            self._is_over = True
            works = list(self.works.values())
            self.works.clear()
        for work in works:
            if work.is_changed:
                discard(work)

    def _is_visible(self, catalog: SupportsTransactions) -> bool:
        """Whether a commit without an answer has happened: every table that got new rows has them."""
        works = [(key, work.new_snapshots()) for key, work in self.works.items()]
        return any(ours for _, ours in works) and all(_has(catalog, key, ours) for key, ours in works if ours)


def _has(catalog: SupportsTransactions, key: WorkKey, snapshots: set[int]) -> bool:
    _, namespace, name = key
    try:
        table = catalog.load_table(namespace, name)
    except PinakesError:
        return False
    metadata = getattr(table, "handle").metadata  # noqa: B009 - what is changed here are Iceberg tables
    return all(metadata.snapshot_by_id(number) is not None for number in snapshots)
