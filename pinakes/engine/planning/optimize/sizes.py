"""Estimates the number of rows of joins, from rows and keys of the tables and from predicates.

Two columns that are compared by `=` are assumed to have the same values where their ranges overlap, each about equally
often. A second pair of columns between the same tables counts for less than the first: keys of several columns are
correlated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pinakes.engine.planning.optimize.table_facts import Spread

OTHER_PAIRS = 0.25
"""The weight of a further pair of columns, as an exponent; that of the next is its square, and so on."""
COMPARED = 0.3
"""The share of rows that satisfy a condition other than `=`."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A table with the conditions on it alone applied."""

    rows: float
    spreads: dict[str, Spread | None]
    """Of the columns that are joined by."""
    counted: dict[str, float | None] = field(default_factory=dict)
    """How many different values these have, where the table was analyzed."""

    def distinct(self, column: str) -> float | None:
        """As far as it is known, and no more than there are rows."""
        spread = self.spreads.get(column)
        found = self.counted.get(column)
        if found is None:
            found = None if spread is None else spread.distinct
        return None if found is None else max(1.0, min(found, self.rows))


@dataclass(frozen=True, slots=True)
class Edge:
    """Column `left` of one table = column `right` of another."""

    one: int
    left: str
    other: int
    right: str


@dataclass(slots=True)
class Sizes:
    tables: Sequence[Sized]
    edges: Sequence[Edge]
    others: Sequence[frozenset[int]] = field(default_factory=list)
    """The tables that each condition other than `=` refers to."""
    _near: dict[int, list[tuple[int, float]]] = field(init=False)
    """For each table those that it is compared with by `=`, and the share of rows that meet it."""

    def __post_init__(self) -> None:
        self._near = {table: [] for table in range(len(self.tables))}
        for edge in self.edges:
            share = self._share(edge)
            self._near[edge.one].append((edge.other, share))
            self._near[edge.other].append((edge.one, share))

    def joined(self, rows: float, before: frozenset[int], table: int) -> float:
        """The rows after `table` is joined to what was joined before it."""
        shares = sorted(share for other, share in self._near[table] if other in before)
        size = rows * max(self.tables[table].rows, 1.0)
        weight = 1.0
        for share in shares:
            size *= share**weight
            weight *= OTHER_PAIRS
        both = before | {table}
        size *= COMPARED ** sum(1 for asked in self.others if table in asked and asked <= both)
        return max(size, 1.0)

    def connects(self, before: frozenset[int], table: int) -> bool:
        return any(other in before for other, _ in self._near[table])

    def _share(self, edge: Edge) -> float:
        """The share of all pairs of rows that meet an equality."""
        one, other = self.tables[edge.one], self.tables[edge.other]
        left, right = one.spreads.get(edge.left), other.spreads.get(edge.right)
        if left is None or right is None:
            known = [n for n in (one.distinct(edge.left), other.distinct(edge.right)) if n is not None]
            return 1.0 / (max(known) if len(known) == 2 else max(1.0, min(one.rows, other.rows)))
        overlap = min(left.greatest, right.greatest) - max(left.least, right.least) + 1.0
        if overlap <= 0:
            return 1.0 / max(1.0, one.rows * other.rows)
        mine, theirs = overlap / left.width, overlap / right.width
        distinct = max((one.distinct(edge.left) or 1.0) * mine, (other.distinct(edge.right) or 1.0) * theirs, 1.0)
        return mine * theirs / distinct
