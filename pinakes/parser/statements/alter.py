"""ALTER TABLE and its actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.core.types.syntax import SqlType
from pinakes.parser.statements.base import Path, Properties, Span, Statement
from pinakes.parser.statements.definitions import Check, ColumnDef, PartitionTerm, SortTerm
from pinakes.parser.statements.session import Argument


@dataclass(frozen=True, slots=True)
class AddColumn:
    path: Path
    column: ColumnDef
    if_not_exists: bool = False
    first: bool = False
    after: Part | None = None


@dataclass(frozen=True, slots=True)
class DropColumn:
    path: Path
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class RenameColumn:
    path: Path
    to: Part


@dataclass(frozen=True, slots=True)
class SetColumnType:
    path: Path
    type: SqlType


@dataclass(frozen=True, slots=True)
class SetNotNull:
    path: Path


@dataclass(frozen=True, slots=True)
class DropNotNull:
    path: Path


@dataclass(frozen=True, slots=True)
class SetDefault:
    path: Path
    value: Span


@dataclass(frozen=True, slots=True)
class DropDefault:
    path: Path


@dataclass(frozen=True, slots=True)
class CommentColumn:
    path: Path
    comment: str | None


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """ALTER COLUMN x FIRST | AFTER y"""

    path: Path
    first: bool = False
    after: Part | None = None


@dataclass(frozen=True, slots=True)
class SetProperties:
    properties: Properties


@dataclass(frozen=True, slots=True)
class UnsetProperties:
    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class AddPartitionField:
    term: PartitionTerm


@dataclass(frozen=True, slots=True)
class DropPartitionField:
    term: PartitionTerm


@dataclass(frozen=True, slots=True)
class AddCheck:
    check: Check


@dataclass(frozen=True, slots=True)
class DropConstraint:
    name: Part
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class SetSortOrder:
    """WRITE ORDERED BY (…), or WRITE UNORDERED: no terms"""

    terms: tuple[SortTerm, ...]


@dataclass(frozen=True, slots=True)
class CreateRef:
    """CREATE [OR REPLACE] | REPLACE BRANCH | TAG name [AS OF VERSION v] [RETAIN n DAYS] [WITH SNAPSHOT RETENTION …]

    `version` is the id of a snapshot or the name of a branch or tag; without it, the current snapshot is meant.
    """

    kind: Literal["branch", "tag"]
    name: str
    version: int | str | None = None
    replace: bool = False
    """An existing one is moved."""
    create: bool = True
    """A missing one is created."""
    if_not_exists: bool = False
    max_ref_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class DropRef:
    """DROP BRANCH | TAG [IF EXISTS] name"""

    kind: Literal["branch", "tag"]
    name: str
    if_exists: bool = False


AlterAction = (
    AddColumn
    | DropColumn
    | RenameColumn
    | SetColumnType
    | SetNotNull
    | DropNotNull
    | SetDefault
    | DropDefault
    | CommentColumn
    | MoveColumn
    | SetProperties
    | UnsetProperties
    | AddPartitionField
    | DropPartitionField
    | AddCheck
    | DropConstraint
    | SetSortOrder
    | CreateRef
    | DropRef
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(Statement):
    """ALTER TABLE [IF EXISTS] name action [, action …]; all actions are one commit."""

    name: Name
    actions: tuple[AlterAction, ...]
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableExecute(Statement):
    """ALTER TABLE [IF EXISTS] name EXECUTE procedure [(name => value, …)] [WHERE condition]"""

    name: Name
    procedure: Part
    arguments: tuple[Argument, ...] = ()
    where: Span | None = None
    if_exists: bool = False
