"""What SqlCatalog asks of a database: typed row operations, no SQL and no driver in sight.

A store is bound to one catalog name and sees the rows of that name only. Namespaces come and go as they are stored:
their levels joined by dots. Whoever brings another database implements `CatalogStore`; `tests/providers/store_suite.py`
is its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, runtime_checkable

from pinakes.core.errors import AlreadyExistsError, CatalogUnavailable

T = TypeVar("T")

Kind = Literal["TABLE", "VIEW"]
"""What a row is: `iceberg_type`. A row without a type, as older writers leave it, is a table."""


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """Where a table or view stands: its namespace as stored and its name."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """A table or view: the metadata file that is current, and the one before it."""

    key: ObjectKey
    kind: Kind
    metadata_location: str | None
    previous_metadata_location: str | None


@dataclass
class StoreRows:
    """All rows of a catalog at one moment."""

    objects: dict[ObjectKey, ObjectRow]
    properties: dict[tuple[str, str], str]
    """Of namespaces, by namespace and key."""

    def copy(self) -> StoreRows:
        return StoreRows(dict(self.objects), dict(self.properties))

    def namespaces(self) -> Iterator[str]:
        """Those that rows stand in, some of them twice."""
        yield from (key.namespace for key in self.objects)
        yield from (namespace for namespace, _ in self.properties)


class RowExists(AlreadyExistsError):
    """The primary key is taken: the one signal that settles two creates of the same name."""


class OutcomeUnknown(CatalogUnavailable):
    """The connection broke during a commit, which may have happened or not. Any other error: nothing has changed."""


class CatalogStore(Protocol):
    """Rows of one catalog. Callable from several threads at once; every error is one of `core/errors.py`."""

    @property
    def catalog_name(self) -> str: ...

    @property
    def holds_views(self) -> bool:
        """False on a V0 schema, which has no column to tell a view from a table."""
        ...

    def initialize(self) -> None:
        """Create the two tables (V1) where they are missing; leave existing ones as they are."""
        ...

    def upgrade(self) -> None:
        """Turn a V0 schema into V1; nothing happens to one that is V1 already."""
        ...

    def close(self) -> None: ...

    def run_in_transaction(self, body: Callable[[], T]) -> T:
        """Commit what `body` did through this store, or roll it all back on any error. Within another, join that.

        `body` may run several times, each time from the beginning: when another transaction got in its way.
        """
        ...

    # --- tables and views ----------------------------------------------------------------------------------------

    def insert(self, kind: Kind, key: ObjectKey, metadata_location: str) -> None:
        """RowExists when a table or a view has that key; NotSupportedError for a view on V0."""
        ...

    def get(self, kind: Kind, key: ObjectKey) -> ObjectRow | None: ...

    def list_names(self, kind: Kind, namespace: str) -> list[str]:
        """Names in exactly this namespace, sorted."""
        ...

    def list_everything(self) -> list[tuple[ObjectKey, Kind]]:
        """Every table and view of the catalog, sorted by namespace and name, in one query."""
        ...

    def rename(self, kind: Kind, source: ObjectKey, target: ObjectKey) -> int:
        """Rows renamed: 0 when there is no source. RowExists when the target is taken."""
        ...

    def drop(self, kind: Kind, key: ObjectKey) -> int:
        """Rows dropped: 0 when there is no such row of this kind."""
        ...

    def swap_metadata_location(self, kind: Kind, key: ObjectKey, expected: str, new: str) -> int:
        """Compare-and-set: rows changed, 0 when the current location is not `expected`."""
        ...

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str) -> bool:
        """Whether any row, of an object or a property, stands in this namespace or below it."""
        ...

    def list_namespaces(self, under: str = "") -> list[str]:
        """Distinct namespaces that rows stand in: all, or those below `under`, at any depth; sorted, `""` left out."""
        ...

    def get_namespace_properties(self, namespace: str) -> dict[str, str]: ...

    def insert_namespace_property(self, namespace: str, key: str, value: str) -> None:
        """RowExists when the property is there."""
        ...

    def set_namespace_properties(self, namespace: str, properties: Mapping[str, str]) -> None:
        """Insert or replace each."""
        ...

    def remove_namespace_properties(self, namespace: str, keys: Collection[str] | None = None) -> int:
        """Rows removed; without `keys` all of them."""
        ...


@runtime_checkable
class PinnableStore(CatalogStore, Protocol):
    """A store whose rows can be read at one moment: transactions over it see one state of it, and change names, too.
    A store that is not one has transactions of tables only."""

    def read_rows(self) -> StoreRows:
        """All of them, as they are at one moment."""
        ...

    def check_object(self, kind: Kind, key: ObjectKey) -> None:
        """Raise what `insert` would raise for a key that is free."""
        ...

    def check_property(self, namespace: str, key: str, value: str) -> None:
        """Raise what `insert_namespace_property` would raise for one that is not there."""
        ...
