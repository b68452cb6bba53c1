"""What a system table is given to look at: who asks, the catalogs they see, and how to ask these.

The engine makes a `World` for each statement (`engine/system/contexts.py`). A catalog is in it because this session
sees it, and it is opened with this user's token: so no table can tell of anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pinakes.core.identity import Identity
from pinakes.system_tables.catalog_executor import Lanes
from pinakes.system_tables.metadata_errors import Fault, Faults

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
        """Opened with this user's token, if it is not open yet; that may take long, or fail."""
        ...

    @property
    def lane(self) -> Hashable:
        """Calls of one lane share its threads."""
        ...

    @property
    def is_system(self) -> bool:
        """It is ours and holds system tables."""
        ...

    @property
    def is_open(self) -> bool: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def visibility(self) -> str:
        """Who else sees it: session, user or all."""
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
    def description(self) -> str: ...

    @property
    def arguments(self) -> tuple[str, ...]: ...

    @property
    def returns(self) -> tuple[str, ...]: ...

    @property
    def deterministic(self) -> bool: ...


@dataclass(slots=True)
class World:
    identity: Identity
    mounts: tuple[MountedCatalog, ...]
    """Those that the table spans: all that the session sees, or the one that was named."""
    lanes: Lanes
    faults: Faults
    """What went wrong lately, for everybody; a user is shown their own."""
    check: Callable[[], None]
    """Raises when the statement was stopped."""
    files_schema: Callable[[FilesTable], pa.Schema]
    """The columns of files that are read as a table."""
    view_schema: Callable[[str, Namespace, str], pa.Schema]
    """The columns of a view, by catalog, namespace and name, of which only the text is known."""
    functions: Callable[[], tuple[FunctionInfo, ...]]
    runtime: RuntimeState
    """What the engine does and did."""
    read_avro: Callable[[IcebergTable, str], pa.Table]
    """A file of manifests that an Iceberg table names, by its path."""
    strict: bool = False
    """`metadata_errors` is 'fail': the first thing that goes wrong is an error."""
    timeout: float = 10.0
    """Seconds that one call of a catalog may take."""
    failed: list[Fault] = field(default_factory=list)
    """What went wrong for this statement."""
    notes: list[str] = field(default_factory=list)
    """What else whoever asks is to know of the answer."""
