"""A transaction of a session, from BEGIN to COMMIT or ROLLBACK.

A catalog that can be pinned (`sqlite`, `jdbc`) is read as of its first use in the transaction; in other catalogs each
table is read as of its first use. The transaction's own changes are applied on top (`work.py`), and `overlay.py`
presents the catalogs in this state. COMMIT applies all changes to the one changed catalog atomically. This is snapshot
isolation: a concurrent change of a table that the transaction changed makes COMMIT fail. A definition that the catalog
can't include in the transaction (`defining.py`) takes effect immediately, with a warning.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pinakes.caches.caching_catalog import forget_catalog, forget_table
from pinakes.core.catalog import (
    Catalog,
    PinnedCatalog,
    RunningTransaction,
    SupportsOwnTransactions,
    SupportsPinning,
    SupportsTransactions,
    TableChange,
)
from pinakes.core.errors import (
    CommitConflict,
    CommitUnknown,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
    TransactionAborted,
)
from pinakes.core.names import Namespace
from pinakes.engine.catalogs.registry import Mount
from pinakes.engine.transactions.defining import definition

if TYPE_CHECKING:
    from pinakes.engine.transactions.work import TableWork

logger = logging.getLogger(__name__)

WorkKey = tuple[Mount, Namespace, str]


class Transaction:
    """A session's transaction. It implements `Overlay` of `engine/catalogs/mounts.py`."""

    def __init__(self, *, read_only: bool = False) -> None:
        self.transaction_id = uuid.uuid4().hex
        self.created = self.last_used = datetime.now(UTC)
        self.is_aborted = False
        self._is_over = False
        self.read_only = read_only
        self.works: dict[WorkKey, TableWork] = {}
        self.lock = threading.RLock()
        self._overlays: dict[Mount, tuple[Catalog, Catalog]] = {}
        self._pinned: dict[Mount, PinnedCatalog] = {}
        self._own: dict[Mount, tuple[Catalog, RunningTransaction]] = {}
        """The catalogs that run transactions themselves, each with its running transaction."""
        self._changed: tuple[Mount, Catalog] | None = None

    # --- catalogs as the session's statements see them --------------------------------------------------------------

    def over(self, mount: Mount, catalog: Catalog) -> Catalog:
        from pinakes.engine.transactions.overlay import overlay

        with self.lock:
            if isinstance(catalog, SupportsOwnTransactions) and catalog.runs_transactions:
                return self._running(mount, catalog)
            known = self._overlays.get(mount)
            if known is None or (known[0] is not catalog and mount not in self._pinned):
                pinned = catalog.pin() if isinstance(catalog, SupportsPinning) and catalog.pins else None
                if pinned is not None:
                    self._pinned[mount] = pinned
                known = self._overlays[mount] = catalog, overlay(catalog, pinned, mount, self)
        return known[1]

    def _running(self, mount: Mount, catalog: SupportsOwnTransactions) -> Catalog:
        """Begins a transaction in a catalog that runs transactions itself, on its first use."""
        known = self._own.get(mount)
        if known is None:
            if self._is_over:
                raise TransactionAborted("the transaction was ended while this statement ran in it")
            known = self._own[mount] = catalog, catalog.begin_transaction()
        return known[1]

    def claim(self, mount: Mount, catalog: Catalog) -> None:
        """Marks a catalog as changed. Only one catalog can be changed, since two can't commit atomically."""
        if self.read_only:
            raise PermissionDenied(
                f"this transaction is READ ONLY, so it can't change catalog '{mount.name}': ROLLBACK, and BEGIN another"
            )
        why = self.why_not(mount, catalog)
        if why is None:
            self._changed = mount, catalog
        elif definition() is None:
            raise NotSupportedError(why)

    def why_not(self, mount: Mount, catalog: Catalog) -> str | None:
        """Returns the reason why a catalog can't be changed in this transaction, or None."""
        if self._changed is not None and self._changed[0] is not mount:
            return (
                f"this transaction has changed catalog '{self._changed[0].name}', so it can't change '{mount.name}': "
                f"no commit is atomic over two catalogs. ROLLBACK, and change each in a transaction of its own."
            )
        own = isinstance(catalog, SupportsOwnTransactions) and catalog.runs_transactions
        if not own and not isinstance(catalog, SupportsTransactions):
            return (
                f"catalog '{mount.name}' (type {mount.type}) can't be changed in a transaction: it commits one table "
                f"at a time. ROLLBACK, and run the statement on its own."
            )
        return None

    def release(self, mount: Mount) -> None:
        """Unpins a catalog that was changed outside the transaction: from now on it is read in its current state, and
        the tables read from it so far are dropped.
        """
        with self.lock:
            pinned = self._pinned.get(mount)
            if pinned is None:
                return
            pinned.release()
            for key in [key for key in self.works if key[0] is mount]:
                del self.works[key]

    def check(self, kind: str) -> None:
        """Raises unless a statement of this kind may run in the transaction now."""
        if self.is_aborted and kind not in ("Rollback", "Commit"):
            raise TransactionAborted(
                "this transaction is aborted, since a statement in it failed: nothing runs in it any more. "
                "ROLLBACK ends it, and so does COMMIT, which commits nothing of it."
            )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Holds the transaction open while a statement changes a table. Raises once the transaction has ended: a change
        made after that would never be committed.
        """
        with self.lock:
            if self._is_over:
                raise TransactionAborted(
                    "the transaction was ended while this statement ran in it: nothing was changed"
                )
            yield

    def used(self) -> None:
        """Records the end of a statement, for the idle time."""
        self.last_used = datetime.now(UTC)

    @property
    def catalogs(self) -> list[str]:
        """The names of the catalogs that its statements use."""
        return sorted({mount.name for mount in (*self._overlays, *self._own)})

    @property
    def written_catalog(self) -> str | None:
        return None if self._changed is None else self._changed[0].name

    def abort(self) -> None:
        """Marks the transaction as aborted after a failed statement."""
        self.is_aborted = True

    # --- commit and rollback ----------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Makes all changes visible, or none. The transaction has ended in either case."""
        with self.lock:
            self._is_over = True
            changes = [work.change() for work in self.works.values() if work.is_changed]
        self._end_own("commit")
        if self._changed is None:
            return
        mount, catalog = self._changed
        pinned = self._pinned.get(mount)
        if not changes and (pinned is None or not pinned.is_changed):
            return
        assert isinstance(catalog, SupportsTransactions)
        try:
            self._publish(catalog, pinned, changes)
        except CommitUnknown as error:
            if not self._is_visible(catalog):
                raise CommitUnknown(
                    f"it is unknown whether all of the transaction was committed; check before you repeat it: "
                    f"{error.__cause__ or error.message}"
                ) from error
        except CommitConflict as error:
            self.rollback()
            raise CommitConflict(
                f"the transaction was rolled back: a table in it was changed by another writer since the transaction "
                f"first read it (serialization failure: {error.__cause__ or error.message}). Run it again from BEGIN."
            ) from error
        except PinakesError:
            self.rollback()
            raise

    def _publish(
        self, catalog: SupportsTransactions, pinned: PinnedCatalog | None, changes: Sequence[TableChange]
    ) -> None:
        if pinned is None:
            catalog.commit_tables(changes)
            return
        names_changed = pinned.is_changed
        try:
            pinned.commit_tables(changes)
        finally:
            if names_changed:
                forget_catalog(catalog)
            for change in changes:
                *namespace, name = change.table.name()
                forget_table(catalog, tuple(namespace), name)

    def _end_own(self, how: str) -> None:
        """Ends the transactions that catalogs run themselves. At most one of them has changes (`claim`); it is ended
        first, and if its commit fails, the others are rolled back.
        """
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
        """Discards all changes and removes the files that the transaction wrote."""
        from pinakes.engine.transactions.discard import discard

        self._end_own("rollback")
        with self.lock:
            self._is_over = True
            works = list(self.works.values())
            self.works.clear()
            pinned = list(self._pinned.values())
        for catalog in pinned:
            catalog.rollback()
        for work in works:
            if work.is_changed:
                discard(work)

    def _is_visible(self, catalog: SupportsTransactions) -> bool:
        """Whether a commit of unknown outcome has happened: every table with new snapshots has them in the catalog."""
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
