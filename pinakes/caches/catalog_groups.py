"""The groups of `core/catalog.py` that cache or invalidate: reads go through the caches, changes go to the inner
catalog. A change invalidates the affected entries for every user, also when it fails, since it may have been applied in
part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pinakes.caches.caching import CachingCatalog
from pinakes.core.catalog import (
    IcebergTable,
    SupportsAllNamespaces,
    SupportsBulkListing,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsTableActions,
    SupportsTableChanges,
    SupportsTables,
    SupportsTransactions,
    SupportsViews,
    SupportsViewTexts,
    Table,
    TableChange,
    TableSpec,
    ViewDefinition,
)
from pinakes.core.names import Namespace

if TYPE_CHECKING:
    from pyarrow import Schema as ArrowSchema
    from pyiceberg.table import CreateTableTransaction

    from pinakes.core.worker_tables import TableAction


class Namespaces(CachingCatalog):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        return list(self._listing("namespaces", parent, lambda: tuple(self.inner.list_namespaces(parent))))

    def namespace_exists(self, namespace: Namespace) -> bool:
        return self._listing("exists", namespace, lambda: bool(self.inner.namespace_exists(namespace)))

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return dict(self._listing("properties", namespace, lambda: tuple(self.inner.load_namespace(namespace).items())))


class NamespaceChanges(Namespaces):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        with self._changing_namespaces():
            self.inner.create_namespace(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        with self._changing_namespaces(namespace):
            self.inner.drop_namespace(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        with self._changing_namespaces():
            self.inner.alter_namespace(namespace, updates, removals)

    @contextmanager
    def _changing_namespaces(self, *dropped: Namespace) -> Iterator[None]:
        try:
            yield
        finally:
            self._caches.forget_namespaces(self._mount, self._origin, *dropped)


class AllNamespaces(Namespaces):
    def list_all_namespaces(self) -> list[Namespace]:
        return list(self._listing("all namespaces", (), lambda: tuple(self.inner.list_all_namespaces())))


class Tables(CachingCatalog):
    def list_tables(self, namespace: Namespace) -> list[str]:
        return list(self._listing("tables", namespace, lambda: tuple(self.inner.list_tables(namespace))))

    def load_table(self, namespace: Namespace, name: str) -> Table:
        key, known = self._key(namespace, name), self._caches.table_metadata

        def load() -> Table:
            return cast("Table", self.inner.load_table(namespace, name))

        found = self._remembered(known.cache, key, lambda: known.table(key, load), load)
        if isinstance(found, IcebergTable):
            self._stay_open(found.handle)
        return found


class TableChanges(Tables):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table:
        with self._changing((namespace, name)):
            made: Table = self.inner.create_table(namespace, name, spec)
        return made

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        """Begins a creation. The table does not exist before the commit; the code that commits calls
        `invalidate_table`.
        """
        begun: CreateTableTransaction = self.inner.begin_create_table(namespace, name, spec)
        self._stay_open(begun)
        return begun

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_table(namespace, name, purge=purge)

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_table(source, target)


class TableActions(TableChanges):
    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        with self._changing((namespace, name)):
            self.inner.define_table(namespace, name, columns, comment, replace=replace)

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None:
        with self._changing((namespace, name)):
            self.inner.alter_table(namespace, name, action)


class Transactions(TableChanges):
    @property
    def creates_in_transactions(self) -> bool:
        return bool(self.inner.creates_in_transactions)

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        names = [change.table.name() for change in changes]
        with self._changing(*((tuple(name[:-1]), name[-1]) for name in names)):
            self.inner.commit_tables(changes)


class Views(CachingCatalog):
    def list_views(self, namespace: Namespace) -> list[str]:
        return list(self._listing("views", namespace, lambda: tuple(self.inner.list_views(namespace))))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        key, known = self._key(namespace, name, is_view=True), self._caches.table_metadata

        def load() -> ViewDefinition:
            return cast("ViewDefinition", self.inner.load_view(namespace, name))

        return self._remembered(known.cache, key, lambda: known.view(key, load), load)

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        with self._changing((namespace, name)):
            self.inner.create_view(namespace, name, view, replace=replace)

    def drop_view(self, namespace: Namespace, name: str) -> None:
        with self._changing((namespace, name)):
            self.inner.drop_view(namespace, name)

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        with self._changing(source, target):
            self.inner.rename_view(source, target)


class ViewTexts(Views):
    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None:
        with self._changing((namespace, name)):
            self.inner.set_view_comment(namespace, name, comment)


class BulkListing(Tables):
    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        return self._listing("everything", (), lambda: tuple(self.inner.list_everything()))


GROUPS: dict[Any, type[CachingCatalog]] = {
    SupportsTransactions: Transactions,
    SupportsTableActions: TableActions,
    SupportsTableChanges: TableChanges,
    SupportsBulkListing: BulkListing,
    SupportsTables: Tables,
    SupportsNamespaceChanges: NamespaceChanges,
    SupportsAllNamespaces: AllNamespaces,
    SupportsNamespaces: Namespaces,
    SupportsViewTexts: ViewTexts,
    SupportsViews: Views,
}
"""The class that implements each group. Contents of a path change independently of the catalog, so they are never
cached.
"""
