"""The interface of a database to SqlCatalog: typed row operations, without SQL or drivers.

A store is bound to one catalog name and sees the rows of that name only. Namespaces are passed as they are stored:
their levels joined by dots. Another database implements `CatalogStore`; `tests/providers/store_suite.py` is its
contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, runtime_checkable

from pinakes.core.errors import AlreadyExistsError, CatalogUnavailable

T = TypeVar("T")

Kind = Literal["TABLE", "VIEW"]
"""The kind of a row: `iceberg_type`. A row without a type, as written by older versions, is a table."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """The key of a table or view: its namespace as stored and its name."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """A table or view: its current metadata file, and the previous one."""

    key: ObjectKey
    kind: Kind
    metadata_location: str | None
    previous_metadata_location: str | None


@dataclass
class StoreRows:
    """All rows of a catalog at one moment."""

    objects: dict[ObjectKey, ObjectRow]
    properties: dict[tuple[str, str], str]
    """Properties of namespaces, by namespace and key."""

    def copy(self) -> StoreRows:
        return StoreRows(dict(self.objects), dict(self.properties))

    def namespaces(self) -> Iterator[str]:
        """Yields the namespaces of rows, with duplicates."""
        yield from (key.namespace for key in self.objects)
        yield from (namespace for namespace, _ in self.properties)


class RowExists(AlreadyExistsError):
    """The primary key exists: this decides between two concurrent creates of the same name."""


class OutcomeUnknown(CatalogUnavailable):
    """The connection broke during a commit, which may have happened or not. After any other error nothing has
    changed.
    """


class CatalogStore(Protocol):
    """The rows of one catalog. Thread-safe; every error is one of `core/errors.py`."""

    @property
    def catalog_name(self) -> str: ...

    @property
    def holds_views(self) -> bool:
        """False for a V0 schema, which has no column to distinguish views from tables."""
        ...

    def initialize(self) -> None:
        """Creates the two tables (V1) if they are missing; leaves existing ones unchanged."""
        ...

    def upgrade(self) -> None:
        """Upgrades a V0 schema to V1; a V1 schema is unchanged."""
        ...

    def close(self) -> None: ...

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        """Commits the changes of `body` through this store, or rolls them back on any error. Within another
        transaction, joins it.

        `body` may run several times from the beginning, after conflicts with other transactions.
        """
        ...

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        """Inserts a row. Raises RowExists if a table or a view has that key; NotSupportedError for a view on V0."""
        ...

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None: ...

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        """Returns the names in exactly this namespace, sorted."""
        ...

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        """Returns every table and view of the catalog, sorted by namespace and name, in one query."""
        ...

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        """Returns the number of renamed rows: 0 if the source does not exist. Raises RowExists if the target exists."""
        ...

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        """Returns the number of dropped rows: 0 if there is no such row of this kind."""
        ...

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        """Compare-and-set. Returns the number of changed rows: 0 if the current location is not `expected`."""
        ...

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        """Whether any row, of an object or a property, is in this namespace or below it."""
        ...

    def list_namespaces(self, under: str = "") -> list[str]:
        """Returns the distinct namespaces of rows: all, or those below `under` at any depth; sorted, without `""`."""
        ...

    def get_namespace_properties(self, namespace: str) -> dict[str, str]: ...

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        """Inserts a property. Raises RowExists if it exists."""
        ...

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        """Inserts or replaces each property."""
        ...

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        """Returns the number of removed rows; without `keys` removes all."""
        ...


@runtime_checkable
class PinnableStore(CatalogStore, Protocol):
    """A store whose rows can be read at one moment: transactions over it see one state of it, and can change names,
    too. Other stores have transactions of tables only.
    """

    def read_rows(self) -> StoreRows:
        """Returns all rows as of one moment."""
        ...

    def check_object(self, kind: Kind, key: ObjectKey) -> None:
        """Raises the errors that `insert` raises for a free key."""
        ...

    def check_property(self, namespace: str, key: str, value: str) -> None:
        """Raises the errors that `insert_namespace_property` raises for a new property."""
        ...
