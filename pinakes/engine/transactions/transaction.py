"""A transaction of a session, from BEGIN to COMMIT or ROLLBACK.

A catalog that can be pinned (`sqlite`, `jdbc`) is read as it was when the transaction first used it; of others each
table is as it was at its first use. The transaction's own changes are applied to that (`work.py`), and `overlay.py`
shows the catalogs so. COMMIT gives the one catalog that was changed all changes at once: it makes them all or none.
That is snapshot isolation: whoever changed a table of it meanwhile makes COMMIT fail. A definition that the catalog
can't make part of it (`defining.py`) takes effect at once, with a warning.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pinakes.caches.catalog import forget_catalog, forget_table
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
    """It is an `Overlay` of `engine/catalogs/mounts.py`."""

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
        """The catalogs that run transactions themselves, each with the one that runs."""
        self._changed: tuple[Mount, Catalog] | None = None

    # --- what the session's statements see --------------------------------------------------------------------------

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
        why = self.why_not(mount, catalog)
        if why is None:
            self._changed = mount, catalog
        elif definition() is None:
            raise NotSupportedError(why)

    def why_not(self, mount: Mount, catalog: Catalog) -> str | None:
        """Why a catalog can't be changed in this transaction, if it can't."""
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
        """A catalog was changed outside of it: from now on it is seen as it is then. What is changed within stays."""
        with self.lock:
            pinned = self._pinned.get(mount)
            if pinned is None:
                return
            pinned.release()
            for key in [key for key in self.works if key[0] is mount]:
                del self.works[key]

    def check(self, kind: str) -> None:
        """Raise unless a statement of this kind may run in it now."""
        if self.is_aborted and kind not in ("Rollback", "Commit"):
            raise TransactionAborted(
                "this transaction is aborted, since a statement in it failed: nothing runs in it any more. "
                "ROLLBACK ends it, and so does COMMIT, which commits nothing of it."
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
            pinned = list(self._pinned.values())
        for catalog in pinned:
            catalog.rollback()
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
