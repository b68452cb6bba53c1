"""A catalog as a transaction sees it: each table at the state of its first use, with the transaction's own changes.

It has exactly the groups of `core/catalog.py` that the inner one has (`core/forwarding.py`). What can't be part of a
commit of tables is refused, with what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pinakes.caches.catalog import forget_table
from pinakes.core.catalog import (
    Catalog,
    IcebergTable,
    SupportsBulkListing,
    SupportsNamespaceChanges,
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
from pinakes.core.errors import NotSupportedError, TableExists
from pinakes.core.forwarding import Forwarding, class_around
from pinakes.core.names import Namespace, display
from pinakes.engine.registry import Mount
from pinakes.engine.transactions.work import TableWork
from pinakes.providers.metadata_updates import commit_response

if TYPE_CHECKING:
    from pyarrow import Schema as ArrowSchema
    from pyiceberg.table import CommitTableResponse, CreateTableTransaction
    from pyiceberg.table import Table as PyIcebergTable
    from pyiceberg.table.update import TableRequirement, TableUpdate

    from pinakes.core.worker_tables import TableAction
    from pinakes.engine.transactions.transaction import Transaction


class Overlay(Forwarding):
    """What each of them has; `overlay` adds the groups."""

    def __init__(self, inner: Any, mount: Mount, transaction: Transaction) -> None:
        super().__init__(inner)
        self._mount = mount
        self._transaction = transaction

    def close(self) -> None:
        """The catalog outlives the transaction."""

    def _refuse(self, what: str) -> NoReturn:
        raise NotSupportedError(
            f"{what} can't be part of a transaction in catalog '{self._mount.name}' (type {self._mount.type}). "
            f"ROLLBACK or COMMIT, and run the statement on its own."
        )


class _Tables(Overlay):
    def list_tables(self, namespace: Namespace) -> list[str]:
        return sorted({*self.inner.list_tables(namespace), *self._seen(namespace)})

    def load_table(self, namespace: Namespace, name: str) -> Table:
        works, key = self._transaction.works, (self._mount, namespace, name)
        with self._transaction.lock:
            if key not in works:
                forget_table(self.inner, namespace, name)  # the state that is kept must be that of now
                loaded: Table = self.inner.load_table(namespace, name)
                if not isinstance(loaded, IcebergTable):
                    return loaded
                works[key] = TableWork(loaded.handle, self._transaction.changing)
            return IcebergTable(namespace, name, works[key].table)

    def _seen(self, namespace: Namespace) -> list[str]:
        """The tables that the transaction has made or used here: they stay, whatever others do."""
        return [name for mount, ns, name in list(self._transaction.works) if mount is self._mount and ns == namespace]


class _TableChanges(_Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table:
        begun = self.begin_create_table(namespace, name, spec)
        begun.commit_transaction()
        return self.load_table(namespace, name)

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        if not self._creates:
            self._refuse("CREATE TABLE")
        if name in self._seen(namespace):
            raise TableExists(f"a table named {display(self._mount.name, namespace, name)} already exists")
        begun: CreateTableTransaction = self.inner.begin_create_table(namespace, name, spec)
        begun._table.catalog = cast("Any", _Making(begun._table, namespace, name, self._mount, self._transaction))
        return begun

    @property
    def _creates(self) -> bool:
        return isinstance(self.inner, SupportsTransactions) and self.inner.creates_in_transactions

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        self._refuse("DROP TABLE")

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self._refuse("RENAME TABLE")


class _Making:
    """The catalog of a table that the transaction is about to make."""

    def __init__(
        self, staged: PyIcebergTable, namespace: Namespace, name: str, mount: Mount, transaction: Transaction
    ) -> None:
        self._staged = staged
        self._key = (mount, namespace, name)
        self._transaction = transaction

    def commit_table(
        self, table: PyIcebergTable, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        with self._transaction.changing():
            work = TableWork(self._staged, self._transaction.changing, updates)
            self._transaction.works[self._key] = work
        return commit_response(work.metadata, self._staged.metadata_location)

    def _delete_old_metadata(self, *_: object) -> None:
        """There is none of a table that is new."""


class _TableActions(_TableChanges):
    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        self._refuse("CREATE TABLE")

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None:
        self._refuse("ALTER TABLE")


class _NamespaceChanges(Overlay):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        self._refuse("CREATE SCHEMA")

    def drop_namespace(self, namespace: Namespace) -> None:
        self._refuse("DROP SCHEMA")

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        self._refuse("ALTER SCHEMA")


class _Views(Overlay):
    def list_views(self, namespace: Namespace) -> list[str]:
        return list(self.inner.list_views(namespace))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        found: ViewDefinition = self.inner.load_view(namespace, name)
        return found

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        self._refuse("CREATE VIEW")

    def drop_view(self, namespace: Namespace, name: str) -> None:
        self._refuse("DROP VIEW")

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self._refuse("ALTER VIEW … RENAME")


class _ViewTexts(_Views):
    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None:
        self._refuse("COMMENT ON VIEW")


class _BulkListing(_Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        seen = [(ns, name, "TABLE") for mount, ns, name in list(self._transaction.works) if mount is self._mount]
        return list(dict.fromkeys([*self.inner.list_everything(), *seen]))


_OWN: dict[Any, type[Overlay] | None] = {
    SupportsTransactions: None,  # there is one already
    SupportsTableActions: _TableActions,
    SupportsTableChanges: _TableChanges,
    SupportsBulkListing: _BulkListing,
    SupportsTables: _Tables,
    SupportsNamespaceChanges: _NamespaceChanges,
    SupportsViewTexts: _ViewTexts,
    SupportsViews: _Views,
}
"""The groups in which the transaction has a say."""


def overlay(inner: Catalog, mount: Mount, transaction: Transaction) -> Overlay:
    """The catalog as the transaction sees it."""
    return class_around(inner, Overlay, _OWN)(inner, mount, transaction)
