"""What the engine asks of a catalog: groups of methods that a catalog has or has not.

A catalog type (`providers/`) implements the groups it truly supports; the engine asks
`isinstance(catalog, SupportsViews)` before it calls, so a catalog never has to raise "not supported" by hand. Catalogs
return metadata, never plans: `load_table` describes a table and the engine turns the description into a scan.

Names given to these methods are exact (the engine has matched them against the listings), and every method raises the
errors of `core/errors.py` only.
"""

from __future__ import annotations

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
    """An Iceberg table as its catalog knows it now. `handle` is an ordinary pyiceberg table: it scans and commits."""

    namespace: Namespace
    name: str
    handle: PyIcebergTable


@dataclass(frozen=True, slots=True)
class FilesTable:
    """Files that are read as one table: all of one format, as `engine/files` reads them."""

    namespace: Namespace
    name: str
    format: str
    """parquet, csv, json or arrow."""
    paths: tuple[str, ...]
    """Local files, absolute; below a directory of theirs, if they are several."""
    directory: str = ""
    """The table's own directory: `key=value` directories below it are columns. Empty for a single file."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Those of the format's `read_…` function."""


@dataclass(frozen=True, slots=True)
class VirtualTable:
    """A table whose rows are made when they are asked for: a system table."""

    namespace: Namespace
    name: str
    columns: tuple[VirtualColumn, ...]
    definition: object
    """What makes its rows: a `SystemTable`, which only who knows that layer looks into."""
    of: str | None = None
    """The catalog that it describes; None for all that the session sees."""


class VirtualColumn(NamedTuple):
    name: str
    type: DataType
    """Arrow's."""
    comment: str


Table = IcebergTable | FilesTable | VirtualTable | WorkerTable
"""What `load_table` may return."""


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A view: its text and where its unqualified names are looked up."""

    sql: str
    default_catalog: str | None
    default_namespace: Namespace
    schema: Schema | None
    """The Iceberg schema that the view had when it was made; None where the catalog keeps the text alone: the columns
    are then those that the query has now."""
    dialect: str = "pinakes"
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What CREATE TABLE asks for. Iceberg's schema is the common tongue of column definitions."""

    schema: Schema
    partitioning: PartitionSpec
    properties: Mapping[str, str] = field(default_factory=dict)
    location: str | None = None
    sorting: SortOrder | None = None


@runtime_checkable
class Catalog(Protocol):
    """Anything that can be mounted."""

    @property
    def type(self) -> str:
        """The catalog type's name, as in ATTACH … (TYPE x)."""
        ...

    def check(self) -> None:
        """Raise unless the catalog answers. Cheap: one request at most."""
        ...

    def close(self) -> None:
        """Release connections; once more does nothing. Tables already loaded stay usable for queries that hold them."""
        ...


@runtime_checkable
class SupportsNamespaces(Catalog, Protocol):
    def list_namespaces(self, parent: Namespace = ()) -> list[Namespace]:
        """The namespaces one level below `parent`, as full paths, in one call. NamespaceNotFound without a parent."""
        ...

    def namespace_exists(self, namespace: Namespace) -> bool: ...

    def load_namespace(self, namespace: Namespace) -> dict[str, str]:
        """Its properties (`comment`, `location`, …)."""
        ...


@runtime_checkable
class SupportsNamespaceChanges(SupportsNamespaces, Protocol):
    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None: ...

    def drop_namespace(self, namespace: Namespace) -> None:
        """NamespaceNotEmpty while it holds a table, a view or a child."""
        ...

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None: ...


@runtime_checkable
class SupportsDefaultNamespace(Catalog, Protocol):
    """A catalog that can say what an empty namespace means when a name gives the catalog and no namespace."""

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
        """A table that appears, with its first rows, when the transaction is committed (CREATE TABLE … AS)."""
        ...

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None: ...

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None: ...


@dataclass(frozen=True, slots=True)
class TableChange:
    """What a transaction makes of one table: the updates, and what must still be so for them to be right."""

    table: PyIcebergTable
    requirements: tuple[TableRequirement, ...]
    updates: tuple[TableUpdate, ...]


@runtime_checkable
class SupportsTransactions(SupportsTableChanges, Protocol):
    """A catalog that can change several tables in one commit."""

    @property
    def creates_in_transactions(self) -> bool:
        """Whether a table may be made by such a commit."""
        ...

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        """All changes or none. CommitConflict when a requirement is not met, CommitUnknown when nobody answered."""
        ...


@runtime_checkable
class SupportsPinning(SupportsTransactions, Protocol):
    """A catalog that a transaction may see as it was at one moment, and whose names it may change, too."""

    @property
    def pins(self) -> bool: ...

    def pin(self) -> PinnedCatalog: ...


@runtime_checkable
class PinnedCatalog(SupportsTransactions, Protocol):
    """The same catalog at the moment at which it was first asked for something, with changes that nobody else sees.
    `commit_tables` makes all of them visible together with those of tables."""

    @property
    def is_changed(self) -> bool:
        """Whether anything but tables' own metadata was changed."""
        ...

    def reserve(self, namespace: Namespace, name: str, metadata: TableMetadata) -> None:
        """A table of this name is about to be made by `commit_tables`."""
        ...

    def release(self) -> None:
        """The catalog itself was changed: what is asked next is of a later moment. Not while it `is_changed`."""
        ...

    def rollback(self) -> None:
        """Nothing of it is wanted any more."""
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
    """A catalog that keeps of a view its text and its comment. Names in the text are looked up where the view is."""

    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None: ...


@runtime_checkable
class SupportsTableActions(SupportsTableChanges, Protocol):
    """A catalog that makes tables and changes their definitions by itself, when it is told what to do."""

    def define_table(
        self, namespace: Namespace, name: str, columns: ArrowSchema, comment: str | None, *, replace: bool = False
    ) -> None:
        """Make a table. A field that is not nullable is NOT NULL; `default` and `comment` stand in its metadata."""
        ...

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None: ...


@runtime_checkable
class SupportsFunctions(Catalog, Protocol):
    """A catalog that has functions for queries to call."""

    def list_functions(self, namespace: Namespace) -> list[CatalogFunction]: ...


@runtime_checkable
class SupportsOwnTransactions(Catalog, Protocol):
    """A catalog that may run transactions itself: what is asked within one goes to it at once."""

    @property
    def runs_transactions(self) -> bool: ...

    def begin_transaction(self) -> RunningTransaction: ...


@runtime_checkable
class RunningTransaction(Catalog, Protocol):
    """The same catalog within a transaction of its own."""

    def commit(self) -> None: ...

    def rollback(self) -> None:
        """Once more does nothing."""
        ...


@runtime_checkable
class SupportsVersion(Catalog, Protocol):
    """A catalog that can tell, cheaply, whether it holds what it held before."""

    def version(self) -> int | None:
        """Another number after each change; None for a catalog that never changes."""
        ...


@runtime_checkable
class SupportsBulkListing(SupportsTables, Protocol):
    """A catalog that can name everything it holds in one call."""

    def list_everything(self) -> Sequence[tuple[Namespace, str, str]]:
        """(namespace, name, 'TABLE' | 'VIEW') of every object."""
        ...


@runtime_checkable
class SupportsAllNamespaces(SupportsNamespaces, Protocol):
    """A catalog that can name its namespaces of every level in one call."""

    def list_all_namespaces(self) -> list[Namespace]: ...


@runtime_checkable
class SupportsRootTables(SupportsTables, Protocol):
    """A catalog with namespaces in which tables may also stand beside them: in the empty namespace."""

    @property
    def has_root_tables(self) -> bool: ...


@runtime_checkable
class ExplainsReading(Catalog, Protocol):
    """A catalog that can only be read, and can say why."""

    @property
    def why_read_only(self) -> str:
        """A clause that ends the sentence "it can only be read: …"."""
        ...


@runtime_checkable
class SupportsPathIdentifiers(Catalog, Protocol):
    """A catalog that can load a table by its path instead of its name."""

    def load_path(self, path: str) -> Table: ...
