"""Catalog type `hadoop`: Iceberg tables in directories, in the layout of Java's HadoopCatalog. It needs no server.

The location is the warehouse: a local directory, or a URI of an object store, which is read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pinakes.core.errors import CatalogUnavailable, InvalidArgument
from pinakes.core.location import Location
from pinakes.core.names import Namespace
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.hadoop_catalog.local import LocalWarehouse
from pinakes.providers.hadoop_catalog.tree import WHY_READ_ONLY, Tree
from pinakes.providers.hadoop_catalog.warehouse import ObjectStore, Warehouse
from pinakes.providers.iceberg.adapter import IcebergCatalog, IcebergReader, translate_errors
from pinakes.providers.iceberg.storage import limited_storage, storage_properties
from pinakes.providers.locations import is_remote, local_path
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from pinakes.core.access.outbound import Destination
    from pinakes.parser.statements import OptionValue
    from pinakes.providers.hadoop_catalog.catalog import HadoopCatalog as PyIcebergHadoop


@dataclass(frozen=True, slots=True)
class HadoopOptions:
    """The options of ATTACH … (TYPE hadoop, …)."""

    create: bool = option("true creates the directory of the warehouse if it does not exist", default=False)
    default_namespace: str | None = option("namespace for names without one, such as 'a.b'", default=None)


class HadoopReader(IcebergReader):
    """A read-only warehouse: one on an object store."""

    TYPE: ClassVar[str] = "hadoop"
    Options: ClassVar[type[HadoopOptions]] = HadoopOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("location",)

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        """Returns none: an object store is AWS's, or at the endpoint of a secret."""
        return []

    def __init__(self, alias: str, warehouse: Warehouse, properties: Mapping[str, str]) -> None:
        super().__init__(self.TYPE, partial(_pyiceberg, alias, warehouse, properties))
        self._warehouse = warehouse
        self._tree = Tree(warehouse)

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> IcebergReader:
        """Opens the catalog at `location`."""
        parsed = parse_options(HadoopOptions, options, f"catalog type {cls.TYPE}")
        properties = limited_storage(storage_properties(access.storage or access.of_type("s3", "aws")), access)
        if not location:
            raise InvalidArgument("catalog type hadoop needs its warehouse as its location: a directory or s3://…")
        if is_remote(location):
            remote = with_default_namespace(RemoteHadoopCatalog, parsed.default_namespace)
            return remote(alias, ObjectStore(Location.parse(location.rstrip("/")), properties), properties)
        root = local_path(location)
        if parsed.create:
            _make(root)
        local = with_default_namespace(HadoopCatalog, parsed.default_namespace)
        return local(alias, LocalWarehouse(root), properties)

    def check(self) -> None:
        with translate_errors("catalog", ()):
            if self._warehouse.entries() is None:
                raise CatalogUnavailable(
                    f"the warehouse {self._warehouse.location()} is not a directory. CREATE true creates it."
                )

    # Names are read from the directories directly: only tables need the Iceberg library.

    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        with translate_errors("namespace", parent):
            return self._tree.children(parent)

    def namespace_exists(self, namespace: Namespace) -> bool:
        with translate_errors("namespace", namespace):
            return self._tree.exists(namespace)

    def list_tables(self, namespace: Namespace) -> list[str]:
        with translate_errors("namespace", namespace):
            return self._tree.tables(namespace)


class RemoteHadoopCatalog(HadoopReader):
    @property
    def why_read_only(self) -> str:
        return WHY_READ_ONLY


class HadoopCatalog(HadoopReader, IcebergCatalog):
    """A local warehouse."""

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        with translate_errors("namespace", namespace):
            self._tree.create(namespace, properties)

    def drop_namespace(self, namespace: Namespace) -> None:
        with translate_errors("namespace", namespace):
            self._tree.drop(namespace)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        self._tree.require(namespace)
        super().alter_namespace(namespace, updates, removals)


def _pyiceberg(alias: str, warehouse: Warehouse, properties: Mapping[str, str]) -> PyIcebergHadoop:
    from pinakes.providers.hadoop_catalog.catalog import HadoopCatalog

    return HadoopCatalog(alias, warehouse, **properties)


def _make(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CatalogUnavailable(f"the directory {root} can't be made: {error.strerror}") from error
