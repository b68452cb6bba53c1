"""The catalogs of system tables: `system`, and `information_schema` as a catalog or within any catalog.

They are ordinary catalogs, so that SHOW, DESCRIBE, USE and completion work on them. They store nothing.
"""

from __future__ import annotations

from pinakes.core.catalog import VirtualTable
from pinakes.core.errors import NamespaceNotFound, TableNotFound, listing
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM, Namespace, dotted
from pinakes.system_tables import registry


class SystemCatalog:
    """Resolves `name.schema.table` for some schemas of system tables; `of` is the catalog that they are in."""

    type = "system"
    why_read_only = "its tables are made of what the engine and its catalogs know"

    def __init__(self, of: str, schemas: tuple[str, ...] = registry.SCHEMAS) -> None:
        self._of = of
        self._schemas = schemas

    def check(self) -> None:
        """Does nothing: it is always available."""

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        if parent:
            self._schema(parent)
            return []
        return [(schema,) for schema in sorted(self._schemas)]

    def namespace_exists(self, namespace: Namespace) -> bool:
        return not namespace or (len(namespace) == 1 and namespace[0] in self._schemas)

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        self._schema(namespace)
        return {}

    def list_tables(self, namespace: Namespace) -> list[str]:
        return list(registry.names(self._schema(namespace))) if namespace else []

    def load_table(self, namespace: Namespace, name: str) -> VirtualTable:
        schema = self._schema(namespace)
        if name not in registry.names(schema):
            known = listing(registry.names(schema), 30)
            raise TableNotFound(f"system table {dotted((*namespace, name))} does not exist; available: {known}")
        return registry.virtual(schema, name, self._of)

    def _schema(self, namespace: Namespace) -> str:
        if len(namespace) != 1 or namespace[0] not in self._schemas:
            raise NamespaceNotFound(
                f"namespace {dotted(namespace)} does not exist; available: {listing(self._schemas)}"
            )
        return namespace[0]


class EveryInformationSchema:
    """`information_schema.table` without a catalog: covers all catalogs. Its tables are in no namespace."""

    type = "system"
    why_read_only = SystemCatalog.why_read_only

    def check(self) -> None:
        """Does nothing: it is always available."""

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

    def list_tables(self, namespace: Namespace) -> list[str]:
        if namespace:
            raise NamespaceNotFound(f"{INFORMATION_SCHEMA} has no namespace {dotted(namespace)}")
        return list(registry.names(INFORMATION_SCHEMA))

    def load_table(self, namespace: Namespace, name: str) -> VirtualTable:
        if namespace or name not in registry.names(INFORMATION_SCHEMA):
            known = listing(registry.names(INFORMATION_SCHEMA), 30)
            raise TableNotFound(f"{INFORMATION_SCHEMA} has no table {name}; available: {known}")
        return registry.virtual(INFORMATION_SCHEMA, name, "")


def system_catalog() -> SystemCatalog:
    """Returns the catalog `system`."""
    return SystemCatalog(SYSTEM)


def information_schema_of(catalog: str) -> SystemCatalog:
    """Returns `catalog.information_schema`."""
    return SystemCatalog(catalog, (INFORMATION_SCHEMA,))
