"""A catalog as seen by a transaction: a consistent past state with the transaction's own changes.

The past state is the catalog at its first use, if it can be pinned; otherwise each table at its first use. An overlay
has exactly the groups of `core/catalog.py` that the inner catalog has (`core/delegating_catalog.py`). A definition that
can't be part of the transaction is applied to the catalog immediately.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pinakes.caches.caching_catalog import forget_table
from pinakes.core.catalog import (
    Catalog,
    IcebergTable,
    PinnedCatalog,
    SupportsBulkListing,
    SupportsNamespaceChanges,
    SupportsPinning,
    SupportsTableActions,
    SupportsTableChanges,
    SupportsTables,
    SupportsTransactions,
    SupportsViews,
    SupportsViewTexts,
    Table,
    TableSpec,
    ViewDefinition,
)
from pinakes.core.delegating_catalog import DelegatingCatalog, class_around
from pinakes.core.errors import NotSupportedError, TableExists
from pinakes.core.names import Namespace, display
from pinakes.engine.catalogs.registry import Mount
from pinakes.engine.transactions.defining import definition
from pinakes.engine.transactions.discard import discard
from pinakes.engine.transactions.work import TableWork
from pinakes.providers.iceberg.metadata_updates import commit_response

if TYPE_CHECKING:
    from pyarrow import Schema as ArrowSchema
    from pyiceberg.table import CommitTableResponse, CreateTableTransaction
    from pyiceberg.table import Table as PyIcebergTable
    from pyiceberg.table.update import TableRequirement, TableUpdate

    from pinakes.core.worker_tables import TableAction
    from pinakes.engine.transactions.transaction import Transaction, WorkKey


class Overlay(DelegatingCatalog):
    """The base class of overlays; `overlay` adds the groups. `raw` is the catalog itself, `pinned` the catalog pinned
    at one moment, if it supports that; the pinned one is then read and changed.
    """

    def __init__(self, raw: Any, pinned: PinnedCatalog | None, mount: Mount, transaction: Transaction) -> None:
        super().__init__(raw if pinned is None else pinned)
        self._raw = raw
        self._is_pinned = pinned is not None
        self._mount = mount
        self._transaction = transaction

    def close(self) -> None:
        """Does nothing: the catalog outlives the transaction."""

    @contextmanager
    def _changing_names(self) -> Iterator[Any]:
        """Yields the catalog to change: the pinned one, or the catalog itself, where the change is visible to all
        immediately.
        """
        if self._takes_names:
            with self._transaction.changing():
                yield self.inner
        else:
            yield self._at_once()
            self._transaction.release(self._mount)

    @property
    def _takes_names(self) -> bool:
        """Whether changes of names, and not only of table metadata, are part of the transaction."""
        return self._is_pinned and self._is_taken

    @property
    def _is_taken(self) -> bool:
        return self._transaction.why_not(self._mount, self._raw) is None

    def _at_once(self) -> Any:
        found = definition()
        if found is None:
            raise NotSupportedError(
                f"names can't be changed by this statement within a transaction in catalog '{self._mount.name}' (type "
                f"{self._mount.type}). ROLLBACK, and run it outside of one."
            )
        found.at_once = self._mount
        return self._raw


class _Tables(Overlay):
    def list_tables(self, namespace: Namespace) -> list[str]:
        return sorted({*self.inner.list_tables(namespace), *self._seen(namespace)})

    def load_table(self, namespace: Namespace, name: str) -> Table:
        works, key = self._transaction.works, self._key(namespace, name)
        with self._transaction.lock:
            if self._is_changed_at_once(works.get(key)):
                return self._load_to_change_at_once(namespace, name)
            if key not in works:
                forget_table(self.inner, namespace, name)  # the kept state must be current
                loaded: Table = self.inner.load_table(namespace, name)
                if not isinstance(loaded, IcebergTable):
                    return loaded
                works[key] = TableWork(loaded.handle, self._transaction.changing)
            return IcebergTable(namespace, name, works[key].table)

    def _is_changed_at_once(self, work: TableWork | None) -> bool:
        found = definition()
        return found is not None and found.changes_table and work_is_free(work) and not self._is_taken

    def _load_to_change_at_once(self, namespace: Namespace, name: str) -> Table:
        """Loads the table from the catalog itself: a definition that can't be part of the transaction changes it for
        everyone.
        """
        self._transaction.works.pop(self._key(namespace, name), None)
        raw = self._at_once()
        self._transaction.release(self._mount)
        forget_table(raw, namespace, name)
        loaded: Table = raw.load_table(namespace, name)
        return loaded

    def _key(self, namespace: Namespace, name: str) -> WorkKey:
        return (self._mount, namespace, name)

    def _seen(self, namespace: Namespace) -> list[str]:
        """The tables that the transaction created or used in a namespace. They stay visible regardless of other
        sessions. A pinned catalog lists them itself.
        """
        if self._is_pinned:
            return []
        return [name for mount, ns, name in list(self._transaction.works) if mount is self._mount and ns == namespace]


def work_is_free(work: TableWork | None) -> bool:
    return work is None or not work.is_changed


class _TableChanges(_Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table:
        if not self._creates:
            with self._changing_names() as catalog:
                made: Table = catalog.create_table(namespace, name, spec)
            return made
        begun = self.begin_create_table(namespace, name, spec)
        begun.commit_transaction()
        return self.load_table(namespace, name)

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        if not self._creates:
            with self._changing_names() as catalog:
                outside: CreateTableTransaction = catalog.begin_create_table(namespace, name, spec)
            return outside
        if name in self._seen(namespace):
            raise TableExists(f"a table named {display(self._mount.name, namespace, name)} already exists")
        begun: CreateTableTransaction = self.inner.begin_create_table(namespace, name, spec)
        pinned = self.inner if self._is_pinned else None
        begun._table.catalog = cast("Any", _Making(begun._table, self._key(namespace, name), pinned, self._transaction))
        return begun

    @property
    def _creates(self) -> bool:
        raw = self._raw
        return self._is_taken and isinstance(raw, SupportsTransactions) and raw.creates_in_transactions

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        key = self._key(namespace, name)
        work = self._transaction.works.get(key)
        with self._changing_names() as catalog:
            # A table that the transaction created has no files to purge other than those the transaction wrote.
            catalog.drop_table(namespace, name, purge=purge and not (work is not None and work.is_new))
            self._transaction.works.pop(key, None)
        if work is not None and work.is_changed:
            discard(work)

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        key, works = self._key(*source), self._transaction.works
        if not self._takes_names and not work_is_free(works.get(key)):
            raise NotSupportedError(
                f"{display(self._mount.name, *source)} was changed in this transaction, and catalog "
                f"'{self._mount.name}' (type {self._mount.type}) can't rename it in the same one. ROLLBACK, and rename "
                f"it first."
            )
        with self._changing_names() as catalog:
            catalog.rename_table(source, target)
            work = works.pop(key, None)
            if work is not None and self._takes_names:
                work.rename(*target)
                works[self._key(*target)] = work


class _Making:
    """The catalog of a table that the transaction is creating."""

    def __init__(
        self, staged: PyIcebergTable, key: WorkKey, pinned: PinnedCatalog | None, transaction: Transaction
    ) -> None:
        self._staged = staged
        self._key = key
        self._pinned = pinned
        self._transaction = transaction

    def commit_table(
        self, table: PyIcebergTable, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        with self._transaction.changing():
            work = TableWork(self._staged, self._transaction.changing, updates)
            if self._pinned is not None:
                _, namespace, name = self._key
                self._pinned.reserve(namespace, name, work.metadata)
            self._transaction.works[self._key] = work
        return commit_response(work.metadata, self._staged.metadata_location)

    def _delete_old_metadata(self, *_: object) -> None:
        """Does nothing: a new table has no old metadata."""


class _TableActions(_TableChanges):
    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        with self._changing_names() as catalog:
            catalog.define_table(namespace, name, columns, comment, replace=replace)

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None:
        with self._changing_names() as catalog:
            catalog.alter_table(namespace, name, action)


class _NamespaceChanges(Overlay):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        with self._changing_names() as catalog:
            catalog.create_namespace(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        with self._changing_names() as catalog:
            catalog.drop_namespace(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        with self._changing_names() as catalog:
            catalog.alter_namespace(namespace, updates, removals)


class _Views(Overlay):
    def list_views(self, namespace: Namespace) -> list[str]:
        return list(self.inner.list_views(namespace))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        found: ViewDefinition = self.inner.load_view(namespace, name)
        return found

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        with self._changing_names() as catalog:
            catalog.create_view(namespace, name, view, replace=replace)

    def drop_view(self, namespace: Namespace, name: str) -> None:
        with self._changing_names() as catalog:
            catalog.drop_view(namespace, name)

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing_names() as catalog:
            catalog.rename_view(source, target)


class _ViewTexts(_Views):
    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None:
        with self._changing_names() as catalog:
            catalog.set_view_comment(namespace, name, comment)


class _BulkListing(_Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        every = list(self.inner.list_everything())
        if self._is_pinned:
            return every
        seen = [(ns, name, "TABLE") for mount, ns, name in list(self._transaction.works) if mount is self._mount]
        return list(dict.fromkeys([*every, *seen]))


_OWN: dict[Any, type[Overlay] | None] = {
    SupportsPinning: None,  # it is pinned already, or can't be
    SupportsTransactions: None,  # a transaction is already open
    SupportsTableActions: _TableActions,
    SupportsTableChanges: _TableChanges,
    SupportsBulkListing: _BulkListing,
    SupportsTables: _Tables,
    SupportsNamespaceChanges: _NamespaceChanges,
    SupportsViewTexts: _ViewTexts,
    SupportsViews: _Views,
}
"""The groups whose methods the transaction overrides."""


def overlay(raw: Catalog, pinned: PinnedCatalog | None, mount: Mount, transaction: Transaction) -> Overlay:
    """Returns the catalog as the transaction sees it."""
    return class_around(pinned or raw, Overlay, _OWN)(raw, pinned, mount, transaction)
