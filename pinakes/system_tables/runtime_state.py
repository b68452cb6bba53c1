"""The state of the engine for the tables of system.runtime: queries, sessions, caches and settings.

The engine implements it (`engine/system/runtime.py`). Visibility between users is decided here, in `visible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pinakes.core.identity import Identity

if TYPE_CHECKING:
    from datetime import datetime

    from pinakes.caches.cache import CacheStats
    from pinakes.config.settings import SettingRow


class Owned(Protocol):
    @property
    def user(self) -> str: ...


O = TypeVar("O", bound=Owned)  # noqa: E741 - an owned thing


class WorkInfo(Protocol):
    """The resources that a query used."""

    @property
    def rows(self) -> int | None: ...

    @property
    def bytes(self) -> int | None: ...

    @property
    def spilled(self) -> int | None: ...

    @property
    def held(self) -> int | None: ...


class QueryInfo(Protocol):
    """A running or finished statement."""

    @property
    def query_id(self) -> str: ...

    @property
    def user(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def shown(self) -> str:
        """Its text with secrets redacted."""
        ...

    @property
    def kind(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def created(self) -> datetime: ...

    @property
    def started(self) -> datetime | None: ...

    @property
    def ended(self) -> datetime | None: ...

    @property
    def elapsed(self) -> float: ...

    @property
    def seconds(self) -> Mapping[str, float]: ...

    @property
    def rows(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def written(self) -> int | None: ...

    @property
    def work(self) -> WorkInfo: ...

    @property
    def plan(self) -> str | None: ...

    @property
    def engine(self) -> str: ...

    @property
    def progress(self) -> str: ...

    @property
    def error_code(self) -> str | None: ...

    @property
    def error_message(self) -> str | None: ...

    @property
    def catalogs(self) -> tuple[str, ...]: ...


class SessionInfo(NamedTuple):
    session_id: str
    user: str
    source: str
    catalog: str
    schema: str
    created: datetime
    running: int
    is_this: bool


class SecretInfo(NamedTuple):
    """A secret without its values."""

    name: str
    type: str
    scope: str
    shared: bool
    used_by: tuple[str, ...]
    """The catalogs that are opened with it, among those visible to this user."""


class NodeInfo(NamedTuple):
    """A process that runs queries, or parts of them."""

    node_id: str
    version: str
    started: datetime
    processors: int
    memory_limit: int
    state: str = "active"
    coordinator: bool = True


class TaskInfo(NamedTuple):
    """A part of a query on another engine, running or finished."""

    query_id: str
    user: str
    node_id: str
    stage_id: str
    task_id: str
    state: str
    rows: int
    bytes: int
    output_rows: int
    output_bytes: int
    shuffled_bytes: int
    milliseconds: int
    created: datetime
    ended: datetime | None


class TransactionInfo(NamedTuple):
    """An open transaction."""

    transaction_id: str
    user: str
    isolation_level: str
    read_only: bool
    created: datetime
    idle_seconds: int
    written_catalog: str | None
    catalogs: tuple[str, ...]


class RuntimeState(Protocol):
    def queries(self) -> Sequence[QueryInfo]:
        """Returns the queries of all users; the tables filter them by viewer."""
        ...

    def sessions(self) -> Sequence[SessionInfo]: ...

    def transactions(self) -> Sequence[TransactionInfo]: ...

    def caches(self) -> Sequence[CacheStats]: ...

    def settings(self) -> Sequence[SettingRow]:
        """Returns the settings of the current session."""
        ...

    def secrets(self) -> Sequence[SecretInfo]:
        """Returns the secrets that the current user may use."""
        ...

    def node(self) -> NodeInfo:
        """Returns this process."""
        ...

    def other_nodes(self) -> Sequence[NodeInfo]:
        """Returns the processes of another engine, while it runs."""
        ...

    def other_tasks(self) -> Sequence[TaskInfo]:
        """Returns the tasks of all users on another engine, as `queries` does."""
        ...


def visible(things: Iterable[O], viewer: Identity) -> list[O]:
    """Returns the objects that a user may see: their own, and all for an administrator."""
    return [thing for thing in things if viewer.is_admin or thing.user == viewer.user]
