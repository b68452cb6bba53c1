"""CREATE, ALTER, RENAME and DROP of namespaces, tables and views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.core.types.syntax import SqlType
from pinakes.parser.statements.base import Planned, Properties, Span, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNamespace(Statement):
    """CREATE SCHEMA | NAMESPACE | DATABASE [IF NOT EXISTS] name [COMMENT '…'] [LOCATION '…'] [WITH [DBPROPERTIES] (…)]

    COMMENT and LOCATION arrive as the properties `comment` and `location`.
    """

    name: Name
    properties: Properties = ()
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropNamespace(Statement):
    name: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterNamespace(Statement):
    """ALTER SCHEMA | NAMESPACE | DATABASE name SET [DB]PROPERTIES (…) | UNSET [DB]PROPERTIES (…) | RENAME TO name"""

    name: Name
    updates: Properties = ()
    removals: tuple[str, ...] = ()
    rename_to: Name | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """CHECK (condition): `name` is that of CONSTRAINT, and `column` the column that it stands at."""

    condition: Span
    name: Part | None = None
    column: Part | None = None


@dataclass(frozen=True, slots=True)
class ColumnDef:
    """A column of CREATE TABLE or ADD COLUMN. `default` is an expression."""

    name: Part
    type: SqlType
    nullable: bool = True
    default: Span | None = None
    comment: str | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class PartitionTerm:
    """A term of PARTITIONED BY: `column`, or a transform of it: bucket(16, x), truncate(4, x), year(x), day(x)."""

    column: tuple[Part, ...]
    transform: str = "identity"
    argument: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SortTerm:
    """A term of a table's sort order: a column or a transform of it."""

    term: PartitionTerm
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(Statement):
    """CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name (columns) | LIKE other [PARTITIONED BY (…)] [SORTED BY (…)]
    [COMMENT '…'] [LOCATION '…'] [USING iceberg] [WITH (…) | TBLPROPERTIES (…)]"""

    name: Name
    columns: tuple[ColumnDef, ...]
    primary_key: tuple[Part, ...] = ()
    checks: tuple[Check, ...] = ()
    """The CHECK constraints of the table and of its columns."""
    partitioning: tuple[PartitionTerm, ...] = ()
    sorting: tuple[SortTerm, ...] = ()
    properties: Properties = ()
    comment: str | None = None
    location: str | None = None
    like: Name | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTableAs(Planned):
    """CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name [(names | columns)] [PARTITIONED BY …] … AS query
    [WITH [NO] DATA]"""

    name: Name
    body: Span
    columns: tuple[Part, ...] = ()
    """Names only; their types are those of the query."""
    defined: tuple[ColumnDef, ...] = ()
    """Columns with types, to which the rows are cast."""
    primary_key: tuple[Part, ...] = ()
    checks: tuple[Check, ...] = ()
    """The CHECK constraints of the table and of its columns."""
    partitioning: tuple[PartitionTerm, ...] = ()
    sorting: tuple[SortTerm, ...] = ()
    properties: Properties = ()
    comment: str | None = None
    location: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    with_data: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateView(Planned):
    """CREATE [OR REPLACE] [TEMP] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT '…'] [TBLPROPERTIES (…)] AS query"""

    name: Name
    body: Span
    columns: tuple[tuple[Part, str | None], ...] = ()
    """Names, each with its comment."""
    comment: str | None = None
    properties: Properties = ()
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterView(Planned):
    """ALTER VIEW [IF EXISTS] name RENAME TO name | AS query | SET (TBL)PROPERTIES (…) | UNSET (TBL)PROPERTIES (…)"""

    name: Name
    if_exists: bool = False
    rename_to: Name | None = None
    body: Span | None = None
    updates: Properties = ()
    removals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTable(Statement):
    """DROP [TEMP] TABLE [IF EXISTS] name [PURGE]; with TEMP only a temporary one."""

    name: Name
    temporary: bool = False
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropView(Statement):
    """DROP [TEMP] VIEW [IF EXISTS] name; with TEMP only a temporary one."""

    name: Name
    temporary: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """A parameter of an SQL function. `type` and `default` are SQL texts."""

    name: Part
    type: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionForm:
    """One way to call an SQL function: its parameters, the type of its result, and its body, as SQL texts."""

    parameters: tuple[FunctionParameter, ...]
    body: str
    returns: str | None = None
    is_table: bool = False
    """Whether the body is a query whose rows are the result."""
    comment: str | None = None

    @property
    def fewest(self) -> int:
        """The number of arguments without those that have a default."""
        return sum(parameter.default is None for parameter in self.parameters)

    @property
    def most(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFunction(Statement):
    """CREATE [OR REPLACE] [TEMP] FUNCTION | MACRO [IF NOT EXISTS] name (parameters) [RETURNS type] RETURN expression |
    AS expression | AS TABLE query [, (parameters) AS expression]"""

    name: Name
    forms: tuple[FunctionForm, ...]
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropFunction(Statement):
    """DROP [TEMP] FUNCTION | MACRO [TABLE] [IF EXISTS] name [(types)]; `arguments` is the number of types."""

    name: Name
    arguments: int | None = None
    temporary: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable(Statement):
    """ALTER TABLE [IF EXISTS] name RENAME TO name; a target of one part stays in the namespace of the source."""

    name: Name
    target: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOn(Statement):
    """COMMENT ON TABLE | VIEW | COLUMN | SCHEMA name IS '…' | NULL; for a column the last part is the column."""

    what: Literal["TABLE", "VIEW", "COLUMN", "SCHEMA"]
    name: Name
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyze(Statement):
    """ANALYZE [TABLE] name [(columns) | COMPUTE STATISTICS …]; no columns are all of them"""

    table: Name
    columns: tuple[Part, ...] = ()
    scans: bool = True
    """False for NOSCAN: only statistics that need no scan."""
