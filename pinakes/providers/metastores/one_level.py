"""Catalogs whose namespaces have one level: Glue, S3 Tables, Hive metastores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import InvalidArgument, NamespaceNotEmpty, NamespaceNotFound
from pinakes.core.names import Namespace, dotted
from pinakes.providers.iceberg.adapter import IcebergCatalog

if TYPE_CHECKING:
    from pyiceberg.table import CreateTableTransaction


class OneLevelCatalog(IcebergCatalog):
    """A catalog whose namespaces do not nest, and whose store may restrict names (`check_name`)."""

    def check_name(self, name: str, what: str) -> None:
        """Raises if the store would refuse or change the name of a new object."""
        if not name:
            raise InvalidArgument(f"a {what} must have a name")

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        if not parent:
            return sorted((".".join(namespace),) for namespace in super().list_namespaces())
        self._require(parent)
        return []

    def list_all_namespaces(self) -> list[Namespace]:
        return self.list_namespaces()

    def namespace_exists(self, namespace: Namespace) -> bool:
        return len(namespace) <= 1 and super().namespace_exists(namespace)

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        self._check_levels(namespace)
        return super().load_namespace(namespace)

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        if len(namespace) != 1:
            raise InvalidArgument(
                f"a namespace of catalog type {self.type} has one level, so {dotted(namespace) or 'this one'} can't be "
                f"created"
            )
        self.check_name(namespace[0], "namespace")
        super().create_namespace(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        self._require(namespace)
        if tables := super().list_tables(namespace):
            raise NamespaceNotEmpty(f"namespace {dotted(namespace)} is not empty: it holds {len(tables)} tables")
        super().drop_namespace(namespace)

    def list_tables(self, namespace: Namespace) -> list[str]:
        self._check_levels(namespace)
        found = super().list_tables(namespace)
        if not found:  # some stores return no tables for a namespace that does not exist
            self._require(namespace)
        return found

    def create_table(self, namespace: Namespace, name: str, spec: Any) -> Any:
        self._check_new(namespace, name)
        return super().create_table(namespace, name, spec)

    def begin_create_table(self, namespace: Namespace, name: str, spec: Any) -> CreateTableTransaction:
        self._check_new(namespace, name)
        return super().begin_create_table(namespace, name, spec)

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self._check_levels(source[0])
        self._check_new(*target)
        super().rename_table(source, target)

    def _check_new(self, namespace: Namespace, name: str) -> None:
        self._require(namespace)
        self.check_name(name, "table")

    def _require(self, namespace: Namespace) -> None:
        if not self.namespace_exists(namespace):
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")

    def _check_levels(self, namespace: Namespace) -> None:
        if len(namespace) != 1:
            raise NamespaceNotFound(
                f"namespace {dotted(namespace)} does not exist: catalog type {self.type} has namespaces of one level"
            )
