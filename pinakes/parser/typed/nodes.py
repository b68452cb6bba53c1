"""The syntax tree of planned text, with exact offsets.

Only forms that typing needs are distinguished. Every node has its start and end offset, so that a rewrite replaces only
that part of the text and the rest stays as written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal as OneOf


@dataclass(slots=True, eq=False)
class Node:
    start: int
    end: int

    @property
    def children(self) -> tuple[Node, ...]:
        return ()


# --- expressions -------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Number(Node):
    text: str


@dataclass(slots=True, eq=False)
class Text(Node):
    value: str


@dataclass(slots=True, eq=False)
class Bytes(Node):
    """X'4142'"""


@dataclass(slots=True, eq=False)
class Null(Node):
    pass


@dataclass(slots=True, eq=False)
class Boolean(Node):
    pass


@dataclass(slots=True, eq=False)
class TypeName(Node):
    """A type name: `name` in upper case, with single blanks; `numbers` in parentheses."""

    name: str
    numbers: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class TypedText(Node):
    """DATE '2024-01-01'"""

    type: TypeName
    value: str


@dataclass(slots=True, eq=False)
class Interval(Node):
    """INTERVAL '1 day', INTERVAL '1' DAY; `value` is None unless it is a text or a number."""

    value: str | None
    unit: str | None
    operand: Node | None = None


@dataclass(slots=True, eq=False)
class Column(Node):
    """A name of one or more parts, folded as in DataFusion: unquoted ones in lower case."""

    parts: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Parameter(Node):
    name: str


@dataclass(slots=True, eq=False)
class Star(Node):
    """`*` or `t.*`, with EXCEPT; `changes` is true with REPLACE and the like."""

    qualifier: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    changes: bool = False
    items: list[Item] = field(default_factory=list)
    """The replacements of REPLACE."""
    renamed: tuple[tuple[str, str], ...] = ()
    """The old and the new names of RENAME."""

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.items)


@dataclass(slots=True, eq=False)
class Unary(Node):
    operator: str
    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False)
class Binary(Node):
    operator: str
    left: Node
    right: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(slots=True, eq=False)
class Test(Node):
    """IS NULL, IS TRUE, LIKE and other tests of which only the operands matter."""

    operands: list[Node]

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.operands)


@dataclass(slots=True, eq=False)
class Between(Node):
    operand: Node
    low: Node
    high: Node
    word: str = ""
    """SYMMETRIC or ASYMMETRIC"""
    negated: bool = False

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.low, self.high)


@dataclass(slots=True, eq=False)
class InList(Node):
    operand: Node
    items: list[Node]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, *self.items)


@dataclass(slots=True, eq=False)
class InQuery(Node):
    operand: Node
    query: Query

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.query)


@dataclass(slots=True, eq=False)
class Quantified(Node):
    """x = ANY (…), x > ALL (…)"""

    operand: Node
    query: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.query)


@dataclass(slots=True, eq=False)
class Case(Node):
    operand: Node | None
    conditions: list[Node]
    results: list[Node]
    """The last is that of ELSE, if there is one."""

    @property
    def children(self) -> tuple[Node, ...]:
        first = () if self.operand is None else (self.operand,)
        pairs = [n for pair in zip(self.conditions, self.results, strict=False) for n in pair]
        return (*first, *pairs, *self.results[len(self.conditions) :])


@dataclass(slots=True, eq=False)
class Cast(Node):
    operand: Node
    type: TypeName
    form: OneOf["CAST", "TRY_CAST", "::"]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False)
class Call(Node):
    """A function, also an aggregate or a window function."""

    name: str
    arguments: list[Node]
    distinct: bool = False
    named: bool = False
    """Whether arguments are given by name, or in a form with keywords between them."""
    others: list[Node] = field(default_factory=list)
    """ORDER BY in the arguments, WITHIN GROUP, FILTER and OVER, in the order of the text."""
    over: bool = False
    over_name: bool = False
    arguments_end: int = 0
    """The offset after the closing parenthesis of the arguments."""

    @property
    def children(self) -> tuple[Node, ...]:
        if not self.others:
            return tuple(self.arguments)
        return tuple(sorted((*self.arguments, *self.others), key=attrgetter("start")))


@dataclass(slots=True, eq=False)
class Lambda(Node):
    """x -> x + 1, (a, b) -> a + b: an argument of some functions"""

    names: tuple[str, ...]
    body: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.body,)


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """[x + 1 FOR x IN list IF x > 1]"""

    names: tuple[str, ...]
    body: Node
    base: Node
    condition: Node | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.body, self.base) if self.condition is None else (self.body, self.base, self.condition)


@dataclass(slots=True, eq=False)
class Extract(Node):
    part: str
    operand: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(slots=True, eq=False)
class Paren(Node):
    inner: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.inner,)


@dataclass(slots=True, eq=False)
class Row(Node):
    items: list[Node]

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.items)


@dataclass(slots=True, eq=False)
class Array(Node):
    items: list[Node]

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.items)


@dataclass(slots=True, eq=False)
class Struct(Node):
    """{'a': 1}, MAP {'a': 1}, and constants whose type is not inferred; `names` are those of the fields of a struct."""

    items: list[Node]
    names: list[str] = field(default_factory=list)

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.items)


@dataclass(slots=True, eq=False)
class Index(Node):
    """a[1], a[1:2], a['field']"""

    base: Node
    items: list[Node]
    slices: bool = False

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.base, *self.items)


@dataclass(slots=True, eq=False)
class Field(Node):
    """(a).field"""

    base: Node
    name: str

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.base,)


@dataclass(slots=True, eq=False)
class AtTimeZone(Node):
    operand: Node
    zone: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand, self.zone)


@dataclass(slots=True, eq=False)
class Scalar(Node):
    """A scalar subquery."""

    query: Query

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.query,)


@dataclass(slots=True, eq=False)
class Exists(Node):
    query: Query

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.query,)


# --- queries -----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Table(Node):
    """A table or a common table expression in FROM."""

    parts: tuple[str, ...]
    alias: str | None
    columns: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Derived(Node):
    query: Query
    alias: str | None
    columns: tuple[str, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.query,)


@dataclass(slots=True, eq=False)
class TableCall(Node):
    """A table function, also UNNEST, whose columns are unknown here."""

    name: str
    arguments: list[Node]
    alias: str | None
    columns: tuple[str, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(self.arguments)


@dataclass(slots=True, eq=False)
class Join(Node):
    left: Node
    right: Node
    kind: str
    on: Node | None
    using: tuple[str, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right) if self.on is None else (self.left, self.right, self.on)


@dataclass(slots=True, eq=False)
class Aliased(Node):
    """(a JOIN b ON …) AS c"""

    source: Node
    alias: str
    columns: tuple[str, ...]

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.source,)


@dataclass(slots=True, eq=False)
class Item(Node):
    """An item of a SELECT list."""

    value: Node
    alias: str | None

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(slots=True, eq=False)
class Select(Node):
    items: list[Item]
    sources: list[Node]
    distinct: bool = False
    distinct_on: list[Node] = field(default_factory=list)
    where: Node | None = None
    groups: list[Node] = field(default_factory=list)
    having: Node | None = None
    windows: list[Node] = field(default_factory=list)
    qualify: Node | None = None
    from_first: bool = False
    """Whether FROM precedes SELECT."""


@dataclass(slots=True, eq=False)
class AllItems(Node):
    """ALL in GROUP BY ALL: every item that is not an aggregate. In ORDER BY ALL: every item."""

    order: str = ""
    """The text after it: DESC NULLS LAST."""


@dataclass(slots=True, eq=False)
class Values(Node):
    rows: list[Row]


@dataclass(slots=True, eq=False)
class SetOperation(Node):
    operator: str
    left: Node
    right: Node
    distinct: bool
    by_name: bool = False


@dataclass(slots=True, eq=False)
class TableOf(Node):
    """TABLE t"""

    parts: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Defined(Node):
    """A query in WITH."""

    name: str
    columns: tuple[str, ...]
    query: Query


@dataclass(slots=True, eq=False)
class Query(Node):
    defined: list[Defined]
    recursive: bool
    body: Node
    """A Select, Values, SetOperation, TableOf, or another Query in parentheses."""
    order: list[Node] = field(default_factory=list)
    tail: list[Node] = field(default_factory=list)
    """LIMIT and OFFSET."""
    references: int = 0
    """The relations that the whole text reads; 0 if it has a WITH, whose queries count wherever they are read
    (`references.py`)."""
