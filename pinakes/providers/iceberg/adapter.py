"""Adapts any pyiceberg catalog to the engine's interface: namespaces as tuples, and Pinakes errors.

pyiceberg takes 0.3 s to import, so nothing here imports it before the first table, view or namespace is used: the
catalog is passed as a function that opens it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from pinakes.core.access.path_sandbox import EVERYWHERE, Roots
from pinakes.core.access.property_gate import check_properties
from pinakes.core.catalog import IcebergTable, TableSpec, ViewDefinition
from pinakes.core.errors import PinakesError
from pinakes.core.names import Namespace

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as PyIcebergCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import CreateTableTransaction
    from pyiceberg.table import Table as PyIcebergTable
    from pyiceberg.table.sorting import SortOrder
    from pyiceberg.typedef import Identifier, Properties
    from pyiceberg.view import View
    from pyiceberg.view.metadata import ViewVersion

ObjectName = tuple[Namespace, str]
T = TypeVar("T", bound="PyIcebergTable")


@contextmanager
def translate_errors(
    what: str, namespace: Namespace, name: str = "", *, target: ObjectName | None = None
) -> Iterator[None]:
    """Translates any exception of pyiceberg to a Pinakes error that names the object: `what` is "table", "view", …"""
    try:
        yield
    except PinakesError:
        raise
    except Exception as error:
        from pinakes.providers.iceberg.errors import Subject, translate

        subject = Subject(what, namespace, name)
        raise translate(error, subject, Subject(what, *target) if target else subject) from error


class IcebergReader:
    """Read access to the namespaces and tables of a pyiceberg catalog."""

    def __init__(self, type: str, open_inner: Callable[[], PyIcebergCatalog]) -> None:
        self._type = type
        self._open_inner = open_inner
        self._roots = EVERYWHERE

    @property
    def type(self) -> str:
        return self._type

    @cached_property
    def inner(self) -> PyIcebergCatalog:
        """The pyiceberg catalog, opened on first use."""
        from pinakes.providers.iceberg.v3.install import install

        install()
        with translate_errors("catalog", ()):
            inner = self._open_inner()
        inner.roots = self._roots  # type: ignore[attr-defined]
        return inner

    def confine(self, directories: Iterable[str], stores: str = "", reader: str = "") -> None:
        """Restricts the files of its tables to these directories and this prefix of object stores; caches show what
        they have of them to the same reader only. Called before the catalog is used.
        """
        self._roots = Roots(directories, stores, reader)

    def check(self) -> None:
        self.list_namespaces()

    def close(self) -> None:
        if "inner" in self.__dict__:
            self.inner.close()

    # --- namespaces ----------------------------------------------------------------------------------------------

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        with translate_errors("namespace", parent):
            return sorted(tuple(namespace) for namespace in self.inner.list_namespaces(parent))

    def namespace_exists(self, namespace: Namespace) -> bool:
        with translate_errors("namespace", namespace):
            return not namespace or self.inner.namespace_exists(namespace)

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        with translate_errors("namespace", namespace):
            return dict(self.inner.load_namespace_properties(namespace))

    # --- tables --------------------------------------------------------------------------------------------------

    def list_tables(self, namespace: Namespace) -> list[str]:
        with translate_errors("namespace", namespace):
            return sorted(identifier[-1] for identifier in self.inner.list_tables(namespace))

    def load_table(self, namespace: Namespace, name: str) -> IcebergTable:
        with translate_errors("table", namespace, name):
            return IcebergTable(namespace, name, self._own(self.inner.load_table((*namespace, name))))

    def _own(self, handle: T) -> T:
        """Returns the table with our FileIO; catalogs of other packages may have created it with pyiceberg's."""
        from pinakes.providers.iceberg.table_io import TableIO

        if not isinstance(handle.io, TableIO):
            handle.io = TableIO(handle.io.properties, self._roots)
        return handle


class IcebergCatalog(IcebergReader):
    """Adds changes of namespaces and tables."""

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        with translate_errors("namespace", namespace):
            self.inner.create_namespace(namespace, dict(properties))

    def drop_namespace(self, namespace: Namespace) -> None:
        with translate_errors("namespace", namespace):
            self.inner.drop_namespace(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        with translate_errors("namespace", namespace):
            self.inner.update_namespace_properties(namespace, set(removals), dict(updates))

    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> IcebergTable:
        check_properties(spec.properties)
        with translate_errors("table", namespace, name):
            handle = self.inner.create_table(
                (*namespace, name),
                spec.schema,
                location=spec.location,
                partition_spec=spec.partitioning,
                properties=dict(spec.properties),
                **_order(spec),
            )
            return IcebergTable(namespace, name, self._own(handle))

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        check_properties(spec.properties)
        with translate_errors("table", namespace, name):
            begun = self.inner.create_table_transaction(
                (*namespace, name),
                spec.schema,
                location=spec.location,
                partition_spec=spec.partitioning,
                properties=dict(spec.properties),
                **_order(spec),
            )
            self._own(begun._table)
            return begun

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        with translate_errors("table", namespace, name):
            drop = self.inner.purge_table if purge else self.inner.drop_table
            drop((*namespace, name))

    def rename_table(self, source: ObjectName, target: ObjectName) -> None:
        with translate_errors("table", *source, target=target):
            self.inner.rename_table((*source[0], source[1]), (*target[0], target[1]))


def _order(spec: TableSpec) -> dict[str, SortOrder]:
    """Returns the sort order as an argument, or none, so that pyiceberg's default applies without importing it."""
    return {} if spec.sorting is None else {"sort_order": spec.sorting}


class ChangesViews(Protocol):
    """The methods that a pyiceberg catalog needs, in addition to pyiceberg's interface, to replace and rename views."""

    def replace_view(
        self, identifier: str | Identifier, schema: Schema, view_version: ViewVersion, properties: Properties = ...
    ) -> View: ...

    def rename_view(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> None: ...


class IcebergViewCatalog(IcebergCatalog):
    """A catalog with views: its inner catalog also implements `ChangesViews`."""

    @property
    def _changes(self) -> ChangesViews:
        return cast("ChangesViews", self.inner)

    def list_views(self, namespace: Namespace) -> list[str]:
        with translate_errors("namespace", namespace):
            return sorted(identifier[-1] for identifier in self.inner.list_views(namespace))

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition:
        from pinakes.providers.iceberg.views import definition_of

        with translate_errors("view", namespace, name):
            return definition_of(self.inner.load_view((*namespace, name)))

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        from pinakes.providers.iceberg.views import properties_of, schema_of, version_of

        identifier = (*namespace, name)
        with translate_errors("view", namespace, name):
            if replace and self.inner.view_exists(identifier):
                self._changes.replace_view(identifier, schema_of(view), version_of(view), properties_of(view))
            else:
                self.inner.create_view(identifier, schema_of(view), version_of(view), properties=properties_of(view))

    def drop_view(self, namespace: Namespace, name: str) -> None:
        with translate_errors("view", namespace, name):
            self.inner.drop_view((*namespace, name))

    def rename_view(self, source: ObjectName, target: ObjectName) -> None:
        with translate_errors("view", *source, target=target):
            self._changes.rename_view((*source[0], source[1]), (*target[0], target[1]))
