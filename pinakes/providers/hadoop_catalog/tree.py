"""The rules of namespaces and tables in a HadoopCatalog, based on directories only: listing needs no Iceberg library.

A directory with metadata files in its `metadata` directory is a table. Any other directory is a namespace, unless it
contains only `data` and `metadata`: then it is the remains of a table, or a table being created. Names that begin with
a dot are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.core.errors import (
    InvalidArgument,
    NamespaceExists,
    NamespaceNotEmpty,
    NamespaceNotFound,
    NotSupportedError,
    listing,
)
from pinakes.core.names import Namespace, dotted
from pinakes.providers.hadoop_catalog.local import LocalWarehouse
from pinakes.providers.hadoop_catalog.versions import DATA, HINT, METADATA, Current, current, versions_in
from pinakes.providers.hadoop_catalog.warehouse import Warehouse, check_name, is_name


class Tree:
    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    # --- reading --------------------------------------------------------------------------------------------------

    def exists(self, namespace: Namespace) -> bool:
        return all(is_name(level) for level in namespace) and (not namespace or self._is_namespace(namespace))

    def require(self, namespace: Namespace) -> None:
        if not self.exists(namespace):
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist")

    def children(self, parent: Namespace = ()) -> list[Namespace]:
        return [(*parent, name) for name in self._directories(parent) if self._is_namespace((*parent, name))]

    def tables(self, namespace: Namespace) -> list[str]:
        return [name for name in self._directories(namespace) if self.versions((*namespace, name))]

    def versions(self, table: Namespace) -> dict[int, str]:
        """Returns the metadata files of a table by version; empty if it is not a table."""
        if not all(is_name(part) for part in table):
            return {}
        found = self._warehouse.entries(*table, METADATA) or {}
        return versions_in(name for name, is_directory in found.items() if not is_directory)

    def current(self, table: Namespace) -> Current | None:
        """Returns the newest version of a table; None if the table does not exist."""
        hint = self._warehouse.text(*table, METADATA, HINT) if all(is_name(part) for part in table) else None
        # The hint is read first: a version that is written in between is found among the files.
        return current(self.versions(table), hint, f"table {dotted(table)}")

    def _directories(self, namespace: Namespace) -> list[str]:
        self.require(namespace)
        found = self._warehouse.entries(*namespace) or {}
        return sorted(name for name, is_directory in found.items() if is_directory and is_name(name))

    def _is_namespace(self, namespace: Namespace) -> bool:
        found = self._warehouse.entries(*namespace)
        if found is None or (found.get(METADATA) and self._has_metadata(namespace)):
            return False
        shown = {name for name in found if not name.startswith(".")}
        return not shown or not shown <= {DATA, METADATA} or any(self._holds_table((*namespace, n)) for n in shown)

    def _has_metadata(self, path: Namespace) -> bool:
        """Whether there is any metadata file, also one without a version, as in tables of other kinds of catalogs."""
        return any(".metadata.json" in name for name in self._warehouse.entries(*path, METADATA) or ())

    def _holds_table(self, path: Namespace) -> bool:
        within = self._warehouse.entries(*path) or {}
        return self._has_metadata(path) or any(self._has_metadata((*path, name)) for name in within if is_name(name))

    # --- changes --------------------------------------------------------------------------------------------------

    def create(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        _check_levels(namespace, "created")
        _refuse_properties(properties)
        if self.exists(namespace):
            raise NamespaceExists(f"namespace {dotted(namespace)} already exists")
        for depth in range(1, len(namespace) + 1):
            self._check_no_table(namespace[:depth])
        self._local.make(*namespace)

    def drop(self, namespace: Namespace) -> None:
        _check_levels(namespace, "dropped")
        self.require(namespace)
        for name in self._warehouse.entries(*namespace) or ():
            if not self._is_namespace((*namespace, name)) and not self.versions((*namespace, name)):
                self._local.remove_hollow(*namespace, name)
        held = self._warehouse.entries(*namespace) or {}
        if held:
            raise NamespaceNotEmpty(f"namespace {dotted(namespace)} is not empty: it holds {listing(held)}")
        try:
            self._local.remove_empty(*namespace)
        except FileNotFoundError as error:
            raise NamespaceNotFound(f"namespace {dotted(namespace)} does not exist") from error
        except OSError as error:  # something was just created in it
            raise NamespaceNotEmpty(f"namespace {dotted(namespace)} is not empty") from error

    def check_table_name(self, table: Namespace) -> None:
        """Raises unless a table can be created under this name."""
        check_name(table[-1], "table")
        self.require(table[:-1])
        if self.exists(table):
            raise InvalidArgument(
                f"{dotted(table)} is a namespace, and a table of that name would be the same directory: choose another"
            )

    def _check_no_table(self, path: Namespace) -> None:
        if self._warehouse.entries(*path) is not None and not self.exists(path):
            raise InvalidArgument(
                f"{dotted(path)} is a table, and a namespace of that name would be the same directory: choose another"
            )

    @property
    def _local(self) -> LocalWarehouse:
        if not isinstance(self._warehouse, LocalWarehouse):
            raise NotSupportedError(WHY_READ_ONLY)
        return self._warehouse


WHY_READ_ONLY = (
    "an object store can't rename, or create only what is not there, in the way that commits of a hadoop catalog need. "
    "Use a catalog that has a server or a database for it"
)


def _check_levels(namespace: Namespace, done: str) -> None:
    if not namespace:
        raise InvalidArgument(f"the empty namespace can't be {done}; name at least one level")
    for level in namespace:
        check_name(level, "namespace")
    if any(level in (DATA, METADATA) for level in namespace[1:]):
        raise InvalidArgument(
            f"a namespace within another can't be called {DATA} or {METADATA} here: "
            f"tables have directories of these names in theirs"
        )


def _refuse_properties(properties: Mapping[str, str]) -> None:
    if properties:
        raise NotSupportedError(
            f"a hadoop catalog keeps no properties of namespaces, which are plain directories: leave out "
            f"{listing(properties)}"
        )
