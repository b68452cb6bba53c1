"""One frozen dataclass per statement kind. `classify` makes them, `engine/dispatch.py` answers each.

Every statement keeps the user's own text. Places in it are `Span`s of character offsets (end exclusive), so that the
engine can splice names, parameters and fragments without ever printing a query anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.core.sql_types import SqlType


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a statement's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class AsOf:
    """FOR VERSION AS OF / FOR TIMESTAMP AS OF (FOR is optional): `span` is the whole clause, `value` its operand."""

    kind: Literal["version", "timestamp"]
    value: Span
    span: Span


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table that a statement reads or changes, where it stands in the text, without its alias and clauses."""

    name: Name
    span: Span
    alias: Part | None = None
    as_of: AsOf | None = None


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column that an expression names: `x`, `t.x`, `a.b.t.x`, or `t.*` (the name is then `*`).

    `span` is the whole reference and `spans` that of each part, the last one's being the column's own (unless the
    parts before it are a column and it a field: only the engine, which knows the columns, can tell).
    `tables` are the base tables that are sources here, nearest scope first, as indexes into the statement's `tables`;
    -1 is the target of an UPDATE, DELETE or MERGE. Those that a derived source passes on with `*` are among them.
    When a part of the qualifier names a source (its alias or last part), only that source's tables are given.
    """

    name: Part
    qualifier: tuple[Part, ...]
    span: Span
    spans: tuple[Span, ...]
    tables: tuple[int, ...] = ()
    derived: bool = False
    """A subquery, a CTE or an alias in the SELECT list (where one may be used) offers a column of this name."""
    exposed: bool = False
    """A projection without an alias in a subquery or CTE: whoever reads from it uses the name as it is written here."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`?` (name = its ordinal from "1"), `$1` or `:name` / `$name`, for the engine to bind."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class SessionValue:
    """current_catalog, current_schema, current_user, version() and their kin: replaced by what the session says.

    `alone` tells that it is a projection of its own without an alias, so that its column keeps its name.
    """

    name: Literal["current_catalog", "current_schema", "current_user", "version"]
    span: Span
    alone: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """An item of the outermost SELECT list that has no name of its own: it ends at `end` and is to be called `name`."""

    end: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The base: the text as the client sent it, and the rendering that may be shown (secret values masked)."""

    text: str = field(repr=False)
    shown: str

    @property
    def kind(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Statement):
    """A statement that DataFusion plans: what was located in its text.

    `tables` are those that are read, wherever they stand; names of CTEs, table functions and the target of a change
    are not among them. `parsed` is False when sqlglot could not read the text: then nothing is located, and
    DataFusion has the last word.
    """

    tables: tuple[TableRef, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    values: tuple[SessionValue, ...] = ()
    projections: tuple[Projection, ...] = ()
    parsed: bool = True


# --- queries -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Planned):
    """SELECT, VALUES, WITH, FROM-first, TABLE t"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Planned):
    """EXPLAIN [ANALYZE] [VERBOSE] [FORMAT f] query; `body` is the query."""

    body: Span
    analyze: bool = False
    verbose: bool = False
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainFull(Planned):
    """EXPLAIN [ANALYZE] FULL [FORMAT JSON] statement"""

    body: Span
    analyze: bool = False
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarize(Planned):
    """SUMMARIZE table | query; exactly one of the two."""

    table: TableRef | None = None
    body: Span | None = None


# --- SHOW and its kin --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Like:
    """LIKE 'pattern': SQL's % and _ and Spark's * and | are both understood; `matches` ignores case."""

    pattern: str

    def matches(self, name: str) -> bool:
        from pinakes.parser.patterns import like

        return like(self.pattern, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCatalogs(Statement):
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowNamespaces(Statement):
    """SHOW NAMESPACES | SCHEMAS | DATABASES [FROM|IN name] [LIKE p]"""

    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTables(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowViews(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowColumns(Statement):
    table: Name
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowFunctions(Statement):
    within: Name | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCreate(Statement):
    """SHOW CREATE TABLE | VIEW | SCHEMA | CATALOG name"""

    what: Literal["TABLE", "VIEW", "SCHEMA", "CATALOG"]
    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSecrets(Statement):
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSession(Statement):
    """SHOW SESSION [LIKE p], SHOW ALL, SHOW SETTINGS, SHOW setting_name (`setting`)"""

    setting: str | None = None
    like: Like | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowStats(Statement):
    """SHOW STATS FOR table"""

    table: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCurrent(Statement):
    """SHOW CURRENT NAMESPACE | SCHEMA | DATABASE | CATALOG"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Planned):
    """DESCRIBE | DESC [TABLE | VIEW] [EXTENDED] name, DESCRIBE NAMESPACE|SCHEMA|DATABASE name, DESCRIBE query"""

    what: Literal["TABLE", "NAMESPACE", "QUERY"] = "TABLE"
    name: Name | None = None
    body: Span | None = None
    extended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Statement):
    """SEARCH 'words' [IN cat]"""

    words: str
    within: Name | None = None


# --- session -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Statement):
    """USE [CATALOG | NAMESPACE | SCHEMA | DATABASE] name [IN catalog]; SET CATALOG name is the same as USE CATALOG"""

    what: Literal["ANY", "CATALOG", "NAMESPACE"]
    name: Name
    catalog: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Statement):
    """SET [SESSION | LOCAL | GLOBAL] name = | TO value; SET TIME ZONE value is name time_zone"""

    name: str
    value: str = field(repr=False)
    scope: Literal["SESSION", "GLOBAL"] = "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOption(Statement):
    """RESET [SESSION | GLOBAL] name | ALL (name None)"""

    name: str | None
    scope: Literal["SESSION", "GLOBAL"] = "SESSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin(Statement):
    """BEGIN | START TRANSACTION"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(Statement):
    """COMMIT [WORK | TRANSACTION]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Statement):
    """ROLLBACK [WORK | TRANSACTION], ABORT"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepare(Statement):
    """PREPARE name [(types)] AS|FROM statement; `body` is the inner statement."""

    name: Part
    body: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute(Statement):
    """EXECUTE name [(args) | USING args]; each argument is an expression."""

    name: Part
    arguments: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deallocate(Statement):
    """DEALLOCATE [PREPARE] name | ALL (name None)"""

    name: Part | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill(Statement):
    """KILL [QUERY] 'id'"""

    query_id: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a CALL: positional when `name` is None."""

    name: str | None
    value: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Statement):
    """CALL [catalog.]system.procedure(a, name => b)"""

    procedure: Name
    arguments: tuple[Argument, ...] = ()


# --- catalogs and secrets ----------------------------------------------------------------------------------------

OptionValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Option:
    """KEY value, KEY = value or KEY 'value' in an option list; the key is upper case. The value is never in a repr."""

    key: str
    value: OptionValue = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attach(Statement):
    """ATTACH [OR REPLACE] [DATABASE] [IF NOT EXISTS] 'location' [AS name] [(TYPE t, KEY value, …)]"""

    location: str = field(repr=False)
    name: Part | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Detach(Statement):
    """DETACH [DATABASE] [IF EXISTS] name"""

    name: Part
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateCatalog(Statement):
    """CREATE [OR REPLACE] CATALOG [IF NOT EXISTS] name (TYPE t, …) | USING type [WITH (…)]"""

    name: Part
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCatalog(Statement):
    name: Part
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSecret(Statement):
    """CREATE [OR REPLACE] [SHARED] SECRET [IF NOT EXISTS] name (TYPE t, KEY value, …)"""

    name: Part
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSecret(Statement):
    name: Part
    if_exists: bool = False


# --- definitions -------------------------------------------------------------------------------------------------

Properties = tuple[tuple[str, str], ...]


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
class ColumnDef:
    """A column of CREATE TABLE or ADD COLUMN. `default` is an expression."""

    name: Part
    type: SqlType
    nullable: bool = True
    default: Span | None = None
    comment: str | None = None


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
    """CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] name [(names)] [PARTITIONED BY …] … AS query [WITH [NO] DATA]"""

    name: Name
    body: Span
    columns: tuple[Part, ...] = ()
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
    name: Name
    if_exists: bool = False
    purge: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropView(Statement):
    name: Name
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTable(Statement):
    """ALTER TABLE [IF EXISTS] name RENAME TO name; a target of one part stays in the namespace of the source."""

    name: Name
    target: Name
    if_exists: bool = False


Path = tuple[Part, ...]
"""A column, or a field within one: `address.city`."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOn(Statement):
    """COMMENT ON TABLE | VIEW | COLUMN | SCHEMA name IS '…' | NULL; for a column the last part is the column."""

    what: Literal["TABLE", "VIEW", "COLUMN", "SCHEMA"]
    name: Name
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyze(Statement):
    """ANALYZE [TABLE] name [(columns) | COMPUTE STATISTICS …]"""

    table: Name
    columns: tuple[Part, ...] = ()


# --- changes of data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """column = expression"""

    column: Path
    value: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(Planned):
    """INSERT INTO | OVERWRITE target [(columns)] [BY NAME] query; body None is DEFAULT VALUES."""

    target: TableRef
    columns: tuple[Part, ...] = ()
    body: Span | None
    overwrite: bool = False
    by_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Planned):
    """UPDATE target [AS alias] SET … [FROM …] [WHERE …]; `source` is what stands after FROM."""

    target: TableRef
    assignments: tuple[Assignment, ...]
    source: Span | None = None
    where: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Planned):
    """DELETE FROM target [AS alias] [USING …] [WHERE …]"""

    target: TableRef
    source: Span | None = None
    where: Span | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate(Statement):
    """TRUNCATE [TABLE] name"""

    name: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyTo(Planned):
    """COPY table | (query) TO 'path' [(options)]"""

    body: Span
    path: str = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyFrom(Statement):
    """COPY [INTO] table [(columns)] FROM 'path' [(options)]"""

    table: Name
    columns: tuple[Part, ...] = ()
    path: str = field(repr=False)
    options: tuple[Option, ...] = ()


# --- rights ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Statement):
    """GRANT …: recognised, not yet answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoke(Statement):
    """REVOKE …: recognised, not yet answered."""


AnyStatement = (
    Query
    | Explain
    | ExplainFull
    | Summarize
    | ShowCatalogs
    | ShowNamespaces
    | ShowTables
    | ShowViews
    | ShowColumns
    | ShowFunctions
    | ShowCreate
    | ShowSecrets
    | ShowSession
    | ShowStats
    | ShowCurrent
    | Describe
    | Search
    | Use
    | SetOption
    | ResetOption
    | Begin
    | Commit
    | Rollback
    | Prepare
    | Execute
    | Deallocate
    | Kill
    | Call
    | Attach
    | Detach
    | CreateCatalog
    | DropCatalog
    | CreateSecret
    | DropSecret
    | CreateNamespace
    | DropNamespace
    | AlterNamespace
    | CreateTable
    | CreateTableAs
    | CreateView
    | AlterView
    | DropTable
    | DropView
    | RenameTable
    | AlterTable
    | CommentOn
    | Analyze
    | Insert
    | Update
    | Delete
    | Merge
    | Truncate
    | CopyTo
    | CopyFrom
    | Grant
    | Revoke
)
"""The closed set of kinds: a `match` over it that forgets one is an error of mypy's."""
