"""Adapts a CatalogStore to the engine: names and namespaces are read from the store, tables and views through
SqlCatalog.

So listings, existence checks and namespaces never load pyiceberg; the first table or view does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pinakes.core.catalog import TableChange
from pinakes.core.names import Namespace
from pinakes.providers.iceberg.adapter import IcebergViewCatalog, translate_errors
from pinakes.providers.sql_catalog.namespaces import Namespaces, split
from pinakes.providers.sql_catalog.store import CatalogStore, PinnableStore

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

    from pinakes.providers.sql_catalog.catalog import SqlCatalog
    from pinakes.providers.sql_catalog.pinned import PinnedSqlCatalog, PinnedStore


class StoreCatalog(IcebergViewCatalog):
    """The catalog. `properties` are those of the pyiceberg catalog: `warehouse` and those of its file access."""

    def __init__(self, type: str, store: CatalogStore, properties: Mapping[str, str]) -> None:
        super().__init__(type, self._sql_catalog)
        self._store = store
        self._properties = dict(properties)
        self._namespaces = Namespaces(store)

    @property
    def rows_name(self) -> str:
        """The catalog name in the rows, by which other engines find them."""
        return self._store.catalog_name

    def check(self) -> None:
        self._store.list_namespaces()

    def close(self) -> None:
        self._store.close()

    @property
    def creates_in_transactions(self) -> bool:
        return True

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        with translate_errors("transaction", ()):
            cast("SqlCatalog", self.inner).commit_tables(changes)

    @property
    def pins(self) -> bool:
        return isinstance(self._store, PinnableStore)

    def pin(self) -> PinnedStoreCatalog:
        assert isinstance(self._store, PinnableStore)
        from pinakes.providers.sql_catalog.pinned import PinnedStore

        cls: type[PinnedStoreCatalog] = _pinned_class(cast("Any", type(self)))
        pinned = cls(self._type, PinnedStore(self._store), self._properties)
        pinned._roots = self._roots
        return pinned

    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        return [(split(key.namespace), key.name, kind) for key, kind in self._store.list_everything()]

    @property
    def has_root_tables(self) -> bool:
        """True, since Java's catalogs may have created tables at the root."""
        return True

    def list_tables(self, namespace: Namespace) -> list[str]:
        return self._store.list_names("TABLE", self._namespaces.require(namespace))

    def list_views(self, namespace: Namespace) -> list[str]:
        return self._store.list_names("VIEW", self._namespaces.require(namespace))

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        return self._namespaces.children(parent)

    def list_all_namespaces(self) -> list[Namespace]:
        return self._namespaces.everything()

    def namespace_exists(self, namespace: Namespace) -> bool:
        return self._namespaces.exists(namespace)

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        return self._namespaces.properties(namespace)

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        self._namespaces.create(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        self._namespaces.drop(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        self._namespaces.alter(namespace, updates, removals)

    def _sql_catalog(self) -> SqlCatalog:
        from pinakes.providers.sql_catalog.catalog import SqlCatalog

        return SqlCatalog(self._store, **self._properties)


class PinnedStoreCatalog(StoreCatalog):
    """The catalog as of one moment, with changes that are not visible to others before `commit_tables`."""

    @property
    def pins(self) -> bool:
        return False

    @property
    def is_changed(self) -> bool:
        return self._pinned.is_changed

    def reserve(self, namespace: Namespace, name: str, metadata: TableMetadata) -> None:
        with translate_errors("table", namespace, name):
            self._sql.reserve((*namespace, name), metadata)

    def release(self) -> None:
        self._pinned.release()

    def rollback(self) -> None:
        if self._pinned.written:
            self._sql.rollback()

    @property
    def _pinned(self) -> PinnedStore:
        return cast("PinnedStore", self._store)

    @property
    def _sql(self) -> PinnedSqlCatalog:
        return cast("PinnedSqlCatalog", self.inner)

    def _sql_catalog(self) -> SqlCatalog:
        from pinakes.providers.sql_catalog.pinned import PinnedSqlCatalog

        return PinnedSqlCatalog(self._pinned, **self._properties)


@cache
def _pinned_class(cls: Any) -> Any:
    """Returns a pinned class that keeps the other attributes of the catalog's own class, such as a default
    namespace.
    """
    return type(cls.__name__, (PinnedStoreCatalog, cls), {"__doc__": PinnedStoreCatalog.__doc__})
