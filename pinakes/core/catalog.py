"""The catalog interface: groups of methods that a catalog implements or not.

A catalog type (`providers/`) implements the groups that it supports. The engine checks `isinstance(catalog,
SupportsViews)` before it calls, so a catalog never has to raise "not supported" by hand. Catalogs return metadata,
never plans: `load_table` describes a table and the engine turns the description into a scan.

Names given to these methods are exact (the engine has matched them against the listings), and every method raises the
errors of `core/errors.py` only.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from pinakes.core.names import Namespace
from pinakes.core.worker_tables import CatalogFunction, TableAction, WorkerTable

if TYPE_CHECKING:
    from pyarrow import DataType
    from pyarrow import Schema as ArrowSchema
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table import CreateTableTransaction
    from pyiceberg.table import Table as PyIcebergTable
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.sorting import SortOrder
    from pyiceberg.table.update import TableRequirement, TableUpdate


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """An Iceberg table at its current metadata. `handle` is a pyiceberg table, which scans and commits."""

    namespace: Namespace
    name: str
    handle: PyIcebergTable


@dataclass(frozen=True, slots=True)
class FilesTable:
    """A table of files, all of one format, as `engine/files` reads them."""

    namespace: Namespace
    name: str
    format: str
    """parquet, csv, json or arrow."""
    paths: tuple[str, ...]
    """Absolute paths of local files; several files share a parent directory."""
    directory: str = ""
    """The directory of the table: `key=value` directories below it are columns. Empty for a single file."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The options of the format's `read_…` function."""


@dataclass(frozen=True, slots=True)
class VirtualTable:
    """A table whose rows are made at scan time: a system table."""

    namespace: Namespace
    name: str
    columns: tuple[VirtualColumn, ...]
    definition: object
    """The `SystemTable` that makes its rows; opaque to all layers but that one."""
    of: str | None = None
    """The catalog that the table describes; None for everything that the session sees."""


class VirtualColumn(NamedTuple):
    name: str
    type: DataType
    """The Arrow schema."""
    comment: str


Table = IcebergTable | FilesTable | VirtualTable | WorkerTable
"""The result of `load_table`."""


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view: its text and the namespace in which its unqualified names are resolved."""

    sql: str
    default_catalog: str | None
    default_namespace: Namespace
    schema: Schema | None
    """The Iceberg schema of the view at creation. None where the catalog stores the text only: the columns are then
    those of the query.
    """
    dialect: str = "pinakes"
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The definition of a table for CREATE TABLE. Columns are defined by an Iceberg schema."""

    schema: Schema
    partitioning: PartitionSpec
    properties: Mapping[str, str] = field(default_factory=dict)
    location: str | None = None
    sorting: SortOrder | None = None


if TYPE_CHECKING:
    _ProtocolMeta = ABCMeta
else:
    _ProtocolMeta = type(Protocol)

_IMPLEMENTED: dict[tuple[type, type], bool] = {}


class _DecidedByClass(_ProtocolMeta):
    """Decides once for each class of catalogs whether it implements a protocol: Python compares all members with those
    of the object each time, and names are resolved by such checks.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        key = type(instance), cls
        if key not in _IMPLEMENTED:
            _IMPLEMENTED[key] = super().__instancecheck__(instance)
        return _IMPLEMENTED[key]


@runtime_checkable
class Catalog(Protocol, metaclass=_DecidedByClass):
    """A catalog that can be mounted."""

    @property
    def type(self) -> str:
        """The catalog type's name, as in ATTACH … (TYPE x)."""
        ...

    def check(self) -> None:
        """Raises unless the catalog is reachable. Sends at most one request."""
        ...

    def close(self) -> None:
        """Releases connections; idempotent. Tables already loaded stay usable for queries that hold them."""
        ...


@runtime_checkable
class SupportsNamespaces(Catalog, Protocol):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        """Returns the namespaces one level below `parent`, as full paths, in one call. Raises NamespaceNotFound if the
        parent does not exist.
        """
        ...

    def namespace_exists(self, namespace: Namespace) -> bool: ...

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        """Returns the properties of a namespace (`comment`, `location`, …)."""
        ...


@runtime_checkable
class SupportsNamespaceChanges(SupportsNamespaces, Protocol):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None: ...

    def drop_namespace(self, namespace: Namespace) -> None:
        """Raises NamespaceNotEmpty while the namespace holds a table, a view or a child."""
        ...

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None: ...


@runtime_checkable
class SupportsDefaultNamespace(Catalog, Protocol):
    """A catalog that defines the meaning of an empty namespace when a name gives the catalog and no namespace."""

    @property
    def default_namespace(self) -> Namespace: ...


@runtime_checkable
class SupportsTables(Catalog, Protocol):
    def list_tables(self, namespace: Namespace) -> list[str]: ...

    def load_table(self, namespace: Namespace, name: str) -> Table: ...


@runtime_checkable
class SupportsTableChanges(SupportsTables, Protocol):
    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> Table: ...

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> CreateTableTransaction:
        """Begins a table that appears, with its first rows, when the transaction is committed (CREATE TABLE … AS)."""
        ...

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None: ...

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None: ...


@dataclass(frozen=True, slots=True)
class TableChange:
    """The change of one table in a transaction: the updates, and the requirements that must still hold at commit."""

    table: PyIcebergTable
    requirements: tuple[TableRequirement, ...]
    updates: tuple[TableUpdate, ...]


@runtime_checkable
class SupportsTransactions(SupportsTableChanges, Protocol):
    """A catalog that can change several tables in one commit."""

    @property
    def creates_in_transactions(self) -> bool:
        """Whether such a commit can create a table."""
        ...

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        """Commits all changes or none. Raises CommitConflict when a requirement is not met, CommitUnknown when the
        outcome is unknown.
        """
        ...


@runtime_checkable
class SupportsPinning(SupportsTransactions, Protocol):
    """A catalog that a transaction can pin to one moment, and whose names the transaction can change."""

    @property
    def pins(self) -> bool: ...

    def pin(self) -> PinnedCatalog: ...


@runtime_checkable
class PinnedCatalog(SupportsTransactions, Protocol):
    """The catalog as of its first use in the transaction, with changes that are visible to the transaction only.
    `commit_tables` makes these changes visible together with those of tables.
    """

    @property
    def is_changed(self) -> bool:
        """Whether anything but table metadata was changed."""
        ...

    def reserve(self, namespace: Namespace, name: str, metadata: TableMetadata) -> None:
        """Reserves the name of a table that `commit_tables` creates."""
        ...

    def release(self) -> None:
        """Unpins the catalog after it was changed: the next request sees a later moment. Not allowed while it
        `is_changed`.
        """
        ...

    def rollback(self) -> None:
        """Discards all changes."""
        ...


@runtime_checkable
class SupportsViews(Catalog, Protocol):
    def list_views(self, namespace: Namespace) -> list[str]: ...

    def load_view(self, namespace: Namespace, name: str) -> ViewDefinition: ...

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None: ...

    def drop_view(self, namespace: Namespace, name: str) -> None: ...

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None: ...


@runtime_checkable
class SupportsViewTexts(SupportsViews, Protocol):
    """A catalog that stores only the text and comment of a view. Names in the text are resolved in the view's
    namespace.
    """

    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None: ...


@runtime_checkable
class SupportsTableActions(SupportsTableChanges, Protocol):
    """A catalog that creates tables and changes their definitions itself, by actions."""

    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        """Creates a table. A field that is not nullable is NOT NULL; its metadata has `default` and `comment`."""
        ...

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None: ...


@runtime_checkable
class SupportsFunctions(Catalog, Protocol):
    """A catalog with functions that queries can call."""

    def list_functions(self, namespace: Namespace) -> list[CatalogFunction]: ...


@runtime_checkable
class SupportsOwnTransactions(Catalog, Protocol):
    """A catalog that can run transactions itself: requests within one are sent to it immediately."""

    @property
    def runs_transactions(self) -> bool: ...

    def begin_transaction(self) -> RunningTransaction: ...


@runtime_checkable
class RunningTransaction(Catalog, Protocol):
    """The catalog within a transaction of its own."""

    def commit(self) -> None: ...

    def rollback(self) -> None:
        """Rolls back; idempotent."""
        ...


@runtime_checkable
class SupportsVersion(Catalog, Protocol):
    """A catalog that reports cheaply whether its content changed."""

    def version(self) -> int | None:
        """Returns another number after each change; None for a catalog that never changes."""
        ...


@runtime_checkable
class SupportsBulkListing(SupportsTables, Protocol):
    """A catalog that lists all its objects in one call."""

    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        """Returns (namespace, name, 'TABLE' | 'VIEW') of every object."""
        ...


@runtime_checkable
class SupportsAllNamespaces(SupportsNamespaces, Protocol):
    """A catalog that lists its namespaces of every level in one call."""

    def list_all_namespaces(self) -> list[Namespace]: ...


@runtime_checkable
class SupportsRootTables(SupportsTables, Protocol):
    """A catalog that has namespaces and also tables in the empty namespace."""

    @property
    def has_root_tables(self) -> bool: ...


@runtime_checkable
class ExplainsReading(Catalog, Protocol):
    """A read-only catalog that gives the reason."""

    @property
    def why_read_only(self) -> str:
        """Returns a clause that ends the sentence "it can only be read: …"."""
        ...


@runtime_checkable
class SupportsPathIdentifiers(Catalog, Protocol):
    """A catalog that can load a table by its path instead of its name."""

    def load_path(self, path: str) -> Table: ...
