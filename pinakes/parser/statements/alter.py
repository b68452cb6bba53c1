"""ALTER TABLE and all that it can do to a table."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.core.names import Name, Part
from pinakes.core.sql_types import SqlType
from pinakes.parser.statements.base import Path, Properties, Span, Statement
from pinakes.parser.statements.definitions import ColumnDef, PartitionTerm


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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable(Statement):
    """ALTER TABLE [IF EXISTS] name action [, action …]; all actions are one commit."""

    name: Name
    actions: tuple[AlterAction, ...]
    if_exists: bool = False
