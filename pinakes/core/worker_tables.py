"""Tables and functions of workers, and the actions that change such tables. Types are Arrow's.

Iceberg tables change by commits of their metadata; those of a worker by actions, which it receives one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pinakes.core.names import Namespace

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class WorkerTable:
    """A table whose rows a program makes at scan time."""

    namespace: Namespace
    name: str
    schema: pa.Schema
    handle: object = field(repr=False)
    """The scan request, opaque to all but its reader (`providers/vgi/scans.py`)."""
    required: tuple[str, ...] = ()
    """The columns that are NOT NULL."""
    key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    checks: tuple[str, ...] = ()
    """Predicates that hold for all rows, as declared by the worker."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    """Comments of columns."""
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    """A function of a catalog: `mydb.main.fn(…)`."""

    namespace: Namespace
    name: str
    kind: Literal["scalar", "table"]
    arguments: pa.Schema
    returns: pa.Schema
    """One field for a scalar function; empty for a table function whose columns depend on the arguments."""
    handle: object = field(repr=False)
    """The call request (`providers/vgi/scans.py`)."""
    optional: tuple[str, ...] = ()
    """The optional arguments."""
    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    deterministic: bool = True


@dataclass(frozen=True, slots=True)
class AddColumn:
    """The field's metadata has its `default` and its `comment`."""

    field: pa.Field
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropColumn:
    column: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    column: str
    to: str


@dataclass(frozen=True, slots=True)
class ChangeType:
    field: pa.Field


@dataclass(frozen=True, slots=True)
class SetDefault:
    column: str
    expression: str | None
    """None drops it."""


@dataclass(frozen=True, slots=True)
class SetRequired:
    column: str
    required: bool


@dataclass(frozen=True, slots=True)
class SetComment:
    comment: str | None
    column: str | None = None
    """None for the table itself."""


TableAction = AddColumn | DropColumn | RenameColumn | ChangeType | SetDefault | SetRequired | SetComment
