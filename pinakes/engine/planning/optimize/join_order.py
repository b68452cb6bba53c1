"""Tables of a FROM clause in the order that leaves the fewest rows on the way; the text of the clause in that order.

Inner joins of plain tables give the same rows in any order, and what is shown of them does not depend on it
(`parser/from_clauses.py` says which clauses are looked at). A list is written in another order; of JOIN … ON, each part
of a condition stands where all tables that it names are there. Nothing is done for small tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pinakes.engine.planning.optimize.orders import Order, better_order
from pinakes.engine.planning.optimize.probes import MOST_ROWS, counted
from pinakes.engine.planning.optimize.sizes import COMPARED, Edge, Sized, Sizes
from pinakes.engine.planning.optimize.table_facts import TableFacts
from pinakes.parser import locate_from_clauses
from pinakes.parser.splice import Edit
from pinakes.parser.statements import Planned, Span

if TYPE_CHECKING:
    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.planning.planner import Planner
    from pinakes.parser.conditions import Condition, Named
    from pinakes.parser.from_clauses import FromClause, FromItem

WORTH = 500_000
"""Rows of a table that make it worth while to think about the order it is joined in."""
EQUAL = 0.1
"""The share of rows that meet `column = constant` where nothing is known of the column."""


def order_joins(planner: Planner, statement: Planned, span: Span | None) -> list[Edit]:
    """What is to stand in place of the FROM clauses that have a better order."""
    found = _clauses(statement) if statement.shown == statement.text else locate_from_clauses(statement)
    edits = []
    for clause in found:
        if span is None or (span.start <= clause.span.start and clause.span.end <= span.end):
            edit = _Clause.edit(planner, statement, clause)
            edits += [edit] if edit is not None else []
    return edits


@lru_cache(maxsize=500)
def _clauses(statement: Planned) -> tuple[FromClause, ...]:
    """Not for statements that carry secrets."""
    return locate_from_clauses(statement)


@dataclass(frozen=True, slots=True)
class _Column:
    item: int
    name: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """For the cache."""

    order: Order | None
    nbytes: int


class _Ambiguous(Exception):
    """A name that several of the tables have."""


class _Clause:
    """One FROM clause with the tables behind it."""

    def __init__(self, planner: Planner, statement: Planned, clause: FromClause, relations: Sequence[Relation]) -> None:
        self._planner = planner
        self._statement = statement
        self._items = clause.items
        self._clause = clause
        self._relations = relations
        cache = planner.execution.session.manifests
        self._facts = [TableFacts(r.table, cache) for r in relations if r.table is not None]

    @staticmethod
    def edit(planner: Planner, statement: Planned, clause: FromClause) -> Edit | None:
        relations = [planner.relation_of(item.table, statement) for item in clause.items]
        if any(r.table is None for r in relations):
            return None
        found = _Clause(planner, statement, clause, relations)
        if max(facts.rows for facts in found._facts) < WORTH:
            return None
        order = found._order()
        return None if order is None else Edit(clause.span.start, clause.span.end, found._text(order))

    def _order(self) -> Order | None:
        """Found once for the text and the snapshots that it reads."""
        text = self._statement.text
        if self._statement.shown != text:
            return self._chosen().order
        versions = " ".join(facts.version for facts in self._facts)
        cache = self._planner.execution.session.manifests
        return cache.get("order", f"{versions} {self._clause.span.start} {text}", self._chosen, own=True).order

    def _chosen(self) -> _Chosen:
        try:
            return _Chosen(better_order(self._sizes()), 500 + 2 * len(self._statement.text))
        except _Ambiguous:
            return _Chosen(None, 500)

    # --- sizes ----------------------------------------------------------------------------------------------------

    def _sizes(self) -> Sizes:
        edges: list[Edge] = []
        others: list[frozenset[int]] = []
        alone: dict[int, list[Condition]] = {}
        for condition in (*self._clause.on, *self._clause.where):
            columns = self._columns(condition)
            items = frozenset(c.item for c in columns)
            if len(items) == 1:
                alone.setdefault(columns[0].item, []).append(condition)
            elif condition.is_equality and len(columns) == 2:
                edges.append(Edge(columns[0].item, columns[0].name, columns[1].item, columns[1].name))
            elif items and condition.is_plain:
                others.append(items)
        keys = {i: sorted(_keys(edges, i)) for i in range(len(self._items))}
        sized = [self._sized(i, alone.get(i, []), keys[i]) for i in range(len(self._items))]
        return Sizes(sized, edges, others)

    def _sized(self, item: int, conditions: Sequence[Condition], keys: Sequence[str]) -> Sized:
        facts = self._facts[item]
        spreads = {key: facts.spread(key) for key in keys}
        counted_values = {key: facts.distinct(key) for key in keys}
        plain = [c for c in conditions if c.is_plain]
        if plain and facts.rows <= MOST_ROWS:
            known = [key for key in keys if spreads[key] is not None]
            texts = [f"({self._written(c.span)})" for c in plain]
            source = self._written(self._items[item].span)
            aside = self._planner.aside(self._relations[item])
            found = counted(aside, self._statement, source, facts, texts, known)
            if found is not None:
                return Sized(found.rows, {**spreads, **found.spreads}, counted_values)
        rows = float(facts.rows)
        for condition in conditions:
            rows *= self._share(condition, facts)
        return Sized(max(rows, 1.0), spreads, counted_values)

    def _share(self, condition: Condition, facts: TableFacts) -> float:
        if not condition.is_equality:
            return COMPARED
        column = self._columns(condition)[0].name
        counted, spread = facts.distinct(column), facts.spread(column)
        if counted is not None:
            return 1.0 / counted
        return EQUAL if spread is None else 1.0 / spread.distinct

    # --- names ----------------------------------------------------------------------------------------------------

    def _columns(self, condition: Condition) -> list[_Column]:
        """The columns of these tables that a condition names; other words of it are none, or are those of others."""
        return [column for named in condition.named if (column := self._column(named)) is not None]

    def _column(self, named: Named) -> _Column | None:
        items = [i for i, item in enumerate(self._items) if _may_mean(named, item)]
        found = [(i, name) for i in items for name in self._relations[i].columns if named.name.matches(name)]
        if len(found) > 1:
            raise _Ambiguous
        return _Column(*found[0]) if found else None

    # --- text -----------------------------------------------------------------------------------------------------

    def _written(self, span: Span) -> str:
        return self._planner.spliced(self._statement, span).text

    def _text(self, order: Order) -> str:
        items = [self._written(self._items[i].span) for i in order]
        if not self._clause.on:
            return "\nCROSS JOIN ".join(items)
        asked = [
            (frozenset(c.item for c in self._columns(on)), f"({self._written(on.span)})") for on in self._clause.on
        ]
        text, placed = items[0], set[int]()
        for at in range(1, len(order)):
            here = frozenset(order[: at + 1])
            now = [i for i, (items_of, _) in enumerate(asked) if i not in placed and items_of <= here]
            placed.update(now)
            conditions = " AND ".join(asked[i][1] for i in now)
            text += f"\nJOIN {items[at]} ON {conditions}" if now else f"\nCROSS JOIN {items[at]}"
        return text


def _may_mean(named: Named, item: FromItem) -> bool:
    return named.qualifier is None or named.qualifier.matches(item.name.exact)


def _keys(edges: Sequence[Edge], item: int) -> set[str]:
    return {e.left for e in edges if e.one == item} | {e.right for e in edges if e.other == item}
