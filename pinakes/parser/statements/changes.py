"""Changes of data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.parser.statements.base import OptionValue, Path, Planned, Span, Statement, TableRef


@dataclass(frozen=True, slots=True)
class Assignment:
    """column = expression"""

    column: Path
    value: Span


@dataclass(frozen=True, slots=True)
class PartitionColumn:
    """column [= constant] in PARTITION (…)"""

    column: Part
    value: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returning(Planned):
    """RETURNING expression [AS name], …: `span` is the list. Its columns are those of the changed table."""

    span: Span
    actions: tuple[Span, ...] = ()
    """The calls of merge_action()."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict(Planned):
    """ON CONFLICT [(columns)] DO NOTHING | DO UPDATE SET … [WHERE …]; DO NOTHING has no assignments."""

    columns: tuple[Part, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    where: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Planned):
    """INSERT INTO | OVERWRITE target [PARTITION (…)] [(columns)] [BY NAME] query; body None is DEFAULT VALUES."""

    target: TableRef
    partition: tuple[PartitionColumn, ...] = ()
    columns: tuple[Part, ...] = ()
    body: Span | None
    conflict: Conflict | None = None
    head: Span | None = None
    """The text of INSERT … within the body, if a WITH stands before INSERT: it is no part of the query."""
    overwrite: bool = False
    by_name: bool = False
    returning: bool = False
    returned: Returning | None = None
    """RETURNING with a list of expressions; `returning` is RETURNING count(*), a row with the number of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Planned):
    """UPDATE target [AS alias] SET … [FROM …] [WHERE …]; `source` is what stands after FROM."""

    target: TableRef
    assignments: tuple[Assignment, ...]
    source: Span | None = None
    where: Span | None = None
    returning: bool = False
    returned: Returning | None = None
    leading: Span | None = None
    """WITH …, which stands before the statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Planned):
    """DELETE FROM target [AS alias] [USING …] [WHERE …]"""

    target: TableRef
    source: Span | None = None
    where: Span | None = None
    returning: bool = False
    returned: Returning | None = None
    leading: Span | None = None


@dataclass(frozen=True, slots=True)
class MergeClause:
    """WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action

    UPDATE SET * and INSERT * have `star`; INSERT has `columns` (empty = all) and `values`.
    """

    when: Literal["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"]
    action: Literal["UPDATE", "DELETE", "INSERT", "NOTHING"]
    condition: Span | None = None
    assignments: tuple[Assignment, ...] = ()
    columns: tuple[Part, ...] = ()
    values: tuple[Span, ...] = ()
    star: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Planned):
    """MERGE INTO target [AS alias] USING source [AS alias] ON condition WHEN …

    `source` is the table or parenthesised query with its alias; `source_alias` the name its columns go by.
    """

    target: TableRef
    source: Span
    source_alias: Part | None
    on: Span
    clauses: tuple[MergeClause, ...]
    returning: bool = False
    returned: Returning | None = None
    leading: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate(Statement):
    """TRUNCATE [TABLE] name"""

    name: Name


@dataclass(frozen=True, slots=True)
class CopyOption:
    """KEY value in the options of COPY; several values in parentheses are a tuple. The value is never in a repr."""

    key: str
    value: OptionValue | tuple[OptionValue, ...] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyTo(Planned):
    """COPY table [(columns)] | (query) TO 'path' [(options)]"""

    body: Span
    columns: tuple[Part, ...] = ()
    path: str = field(repr=False)
    options: tuple[CopyOption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFrom(Statement):
    """COPY [INTO] table [(columns)] FROM 'path' [(options)]; with INTO, the table remembers what it was loaded with."""

    table: Name
    into: bool = False
    columns: tuple[Part, ...] = ()
    path: str = field(repr=False)
    options: tuple[CopyOption, ...] = ()
