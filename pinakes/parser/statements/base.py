"""Building blocks of statements: spans of the text, the two base classes, and names for plain types."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal

from pinakes.core.errors import Position
from pinakes.core.names import Name, Part


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a statement's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class AsOf:
    """FOR VERSION AS OF / FOR TIMESTAMP AS OF (FOR is optional): `span` is the complete clause, `value` its operand."""

    kind: Literal["version", "timestamp"]
    value: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter as an argument of a call; `span` is that of its placeholder."""

    span: Span


FileArgument = str | int | float | bool | None | Bound | tuple["FileArgument", ...] | dict[str, "FileArgument"]


@dataclass(frozen=True, slots=True)
class FileCall:
    """A table function that reads files of a format: read_csv('a.csv', delim => ';'). `span` covers the call."""

    name: str
    format: str
    arguments: tuple[FileArgument, ...]
    options: tuple[tuple[str, FileArgument], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SearchCall:
    """The table function system.metadata.search('words'). `span` covers the call."""

    name: str
    arguments: tuple[FileArgument, ...]
    options: tuple[tuple[str, FileArgument], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class CatalogCall:
    """A table function of a catalog: mydb.main.fn(1, n => 2). `span` covers the call."""

    path: Name
    arguments: tuple[FileArgument, ...]
    options: tuple[tuple[str, FileArgument], ...]
    span: Span

    @property
    def name(self) -> str:
        return self.path.last.text


TableCall = FileCall | SearchCall | CatalogCall


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function that an expression calls by a qualified name: `span` is that of the name."""

    name: Name
    span: Span
    inside: int
    """The offset of its arguments, after the bracket."""
    arguments: int
    """The number of arguments."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table that a statement reads or changes, with its span in the text, without its alias and clauses.

    For a table function of pinakes, `call` is the call and `name` the function's name.
    """

    name: Name
    span: Span
    alias: Part | None = None
    as_of: AsOf | None = None
    call: TableCall | None = None


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A reference to a column: `x`, `t.x`, `a.b.t.x`, or `t.*` (the name is then `*`).

    `span` is the complete reference and `spans` that of each part; the last part is the column, unless the parts before
    it are a column and it is a field, which only the engine can determine. `tables` are the base tables that are
    sources here, nearest scope first, as indexes into the statement's `tables`; -1 is the target of an UPDATE, DELETE
    or MERGE. Tables that a derived source passes on with `*` are included. When a part of the qualifier names a source
    (its alias or last part), only that source's tables are given.
    """

    name: Part
    qualifier: tuple[Part, ...]
    span: Span
    spans: tuple[Span, ...]
    tables: tuple[int, ...] = ()
    derived: bool = False
    """Whether a subquery, a CTE or an alias in the SELECT list (where one may be used) has a column of this name."""
    exposed: bool = False
    """Whether it is a projection without an alias in a subquery or CTE: outer queries use the name as it is written
    here.
    """
    field: bool = False
    """Whether it is a projection without an alias that is a field of a struct: `x.f`, `t.x.f`."""
    owner: int | Part | None = None
    """The source that owns a column shared by JOIN … USING: one of the statement's `tables`, or a derived source by
    its name.
    """


@dataclass(frozen=True, slots=True)
class SharedStar:
    """`*` over sources that are joined by JOIN … USING or NATURAL JOIN.

    Each source is in the form of `ColumnRef.owner`, with the columns that it shares with earlier ones; None for all
    columns with the same name. Sources between two commas of FROM are joined with each other.
    """

    span: Span
    joined: tuple[tuple[tuple[int | Part, tuple[Part, ...] | None], ...], ...]
    keeps_left: bool
    """Whether a shared column must not be taken from the right side, which may have no row."""


@dataclass(frozen=True, slots=True)
class References:
    """The references to columns in a planned statement, in the order of the text."""

    columns: tuple[ColumnRef, ...] = ()
    stars: tuple[SharedStar, ...] = ()


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`?` (name = its ordinal from "1"), `$1` or `:name` / `$name`, for the engine to bind."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class SessionValue:
    """current_catalog, current_schema, current_user, version() and similar: replaced by values of the session.

    `alone` means that it is a projection without an alias, so that its column keeps its name.
    """

    name: Literal["current_catalog", "current_schema", "current_user", "version"]
    span: Span
    alone: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """An unnamed item of the outermost SELECT list: it ends at `end` and gets the name `name`."""

    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Repair:
    """Replaces `span` by `text` (start = end inserts), so that DataFusion reads the intended meaning."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The text that a user wrote, where another was written out of it (`parser/expansion`)."""

    text: str
    """The written-out text."""
    user_text: str
    shown: str
    """The user's text with secrets redacted."""
    places: tuple[tuple[int, int, bool], ...] = field(repr=False)
    """(offset, offset in the user's text, whether the text is copied from there) at the start of each run."""

    def place(self, offset: int) -> int:
        """Returns the offset in the user's text."""
        at = bisect_right(self.places, offset, key=lambda known: known[0]) - 1
        here, there, is_copied = self.places[at]
        return there + (offset - here if is_copied else 0)

    def position(self, position: Position) -> Position:
        """Returns a position in the user's text."""
        lines = self.text.split("\n")
        if not 0 < position.line <= len(lines) or lines[position.line - 1] != position.text:
            return position  # of another text, such as that of a view
        offset = sum(len(line) + 1 for line in lines[: position.line - 1]) + position.column - 1
        return Position.of(self.user_text, self.place(offset))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The base class: the text as the client sent it, and the text with secrets redacted."""

    text: str = field(repr=False)
    shown: str
    origin: Origin | None = field(default=None, repr=False)
    """The relation of the text to the user's, if it is another."""

    @property
    def kind(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, slots=True)
class Definition:
    """`name (columns) AS (body)`; the WITH begins at `start`, and the definition before this one ends at `before`."""

    name: str
    start: int
    before: int
    body: Span
    uses: int
    is_work: bool
    """Whether it joins, groups or filters rows, so that computing it again costs more than reading a table again."""
    is_sampled: bool
    """Whether a reader stops after some rows without an order, so that computing all rows would take longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Statement):
    """A statement that DataFusion plans, with the located parts of its text.

    `tables` are the tables that are read at any level; names of CTEs, table functions and the target of a change are
    not included. `parsed` is False when sqlglot could not parse the text: then nothing is located, and DataFusion
    parses it. `references` is None unless the statement always needs them, as a change does: `locate_references`
    returns those of any statement.
    """

    tables: tuple[TableRef, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    values: tuple[SessionValue, ...] = ()
    projections: tuple[Projection, ...] = ()
    repairs: tuple[Repair, ...] = ()
    functions: tuple[FunctionRef, ...] = ()
    parsed: bool = True
    references: References | None = field(default=None, repr=False)
    definitions: tuple[Definition, ...] = field(default=(), repr=False)
    """The queries that its WITH defines."""


OptionValue = str | int | float | bool | None


Properties = tuple[tuple[str, str], ...]


Path = tuple[Part, ...]
"""A column, or a field within one: `address.city`."""
