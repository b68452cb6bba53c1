"""The context of a system table: the user, the visible catalogs, and how to call them.

The engine creates a `SystemContext` for each statement (`engine/system/contexts.py`). It contains only catalogs that
are visible to this session, opened with this user's token, so a table can't disclose anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pinakes.core.identity import Identity
from pinakes.system_tables.catalog_metadata.errors import Fault, MetadataErrors
from pinakes.system_tables.catalog_metadata.executor import CatalogExecutor

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa

    from pinakes.core.catalog import Catalog, FilesTable, IcebergTable
    from pinakes.core.names import Namespace
    from pinakes.system_tables.runtime_state import RuntimeState


class MountedCatalog(Protocol):
    """A catalog as the session sees it."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def catalog(self) -> Catalog:
        """The catalog, opened with this user's token if it is not open yet, which may be slow or fail."""
        ...

    @property
    def executor_key(self) -> Hashable:
        """The lane of its calls; calls of one lane share its threads."""
        ...

    @property
    def is_system(self) -> bool:
        """Whether it is a built-in catalog of system tables."""
        ...

    @property
    def is_open(self) -> bool: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def visibility(self) -> str:
        """The visibility of the mount: session, user or all."""
        ...

    @property
    def mounted_at(self) -> datetime: ...


class FunctionInfo(Protocol):
    """A function that a query may call."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def syntax(self) -> str: ...

    @property
    def example(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def arguments(self) -> tuple[str, ...]: ...

    @property
    def returns(self) -> tuple[str, ...]: ...

    @property
    def deterministic(self) -> bool: ...


@dataclass(slots=True)
class SystemContext:
    identity: Identity
    mounts: tuple[MountedCatalog, ...]
    """The catalogs that the table covers: all that the session sees, or the named one."""
    executor: CatalogExecutor
    faults: MetadataErrors
    """Recent metadata errors of all users; a user sees only their own."""
    check: Callable[[], None]
    """Raises when the statement was cancelled."""
    files_schema: Callable[[FilesTable], pa.Schema]
    """Returns the columns of a table of files."""
    view_schema: Callable[[str, Namespace, str], pa.Schema]
    """Returns the columns of a view, by catalog, namespace and name, if only its text is known."""
    functions: Callable[[], tuple[FunctionInfo, ...]]
    runtime: RuntimeState
    """The state of the engine."""
    read_avro: Callable[[IcebergTable, str], pa.Table]
    """Reads a manifest or manifest list of an Iceberg table by its path."""
    strict: bool = False
    """Whether `metadata_errors` is 'fail': the first metadata error is raised."""
    timeout: float = 10.0
    """The timeout of one call of a catalog in seconds."""
    failed: list[Fault] = field(default_factory=list)
    """The metadata errors of this statement."""
    notes: list[str] = field(default_factory=list)
    """Other warnings for the user."""
