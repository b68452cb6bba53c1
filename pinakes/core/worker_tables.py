"""Tables and functions of workers, and what can be done to such tables: Arrow's types are the common tongue.

Tables of Iceberg change by commits of their metadata; those of a worker by actions that it is told of, one by one.
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
    """A table whose rows a program makes when they are asked for."""

    namespace: Namespace
    name: str
    schema: pa.Schema
    handle: object = field(repr=False)
    """How its rows are asked for, which only who reads it looks into (`providers/vgi/scans.py`)."""
    required: tuple[str, ...] = ()
    """The columns that are NOT NULL."""
    key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    checks: tuple[str, ...] = ()
    """Conditions that the worker says all its rows meet."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    """Of columns."""
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    """A function that a catalog offers: `mydb.main.fn(…)`."""

    namespace: Namespace
    name: str
    kind: Literal["scalar", "table"]
    arguments: pa.Schema
    returns: pa.Schema
    """Of a scalar function, one field; of a table function without fields, they depend on the arguments."""
    handle: object = field(repr=False)
    """How it is called (`providers/vgi/scans.py`)."""
    optional: tuple[str, ...] = ()
    """The arguments that need not be given."""
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
