"""The sources that are visible at a node of a query, and the columns of derived sources.

Only references to columns (`references.py`) need this: nothing here is computed for a query that just runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import expressions as exp

from pinakes.core.names import Part
from pinakes.parser.tables import Ctes

_USE_ALIASES = frozenset({"order", "group", "having", "qualify", "sort"})
Modified = exp.Select | exp.SetOperation | exp.Subquery
Place = tuple[Modified, str]
"""A query, and the clause of it from which sources are looked up."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The columns of a query or a source: names in folded case, and base tables whose columns pass through a `*`."""

    names: frozenset[str] = frozenset()
    tables: tuple[int, ...] = ()
    known: bool = True
    """False when only the engine can determine the names (a table function)."""


@dataclass(frozen=True, slots=True)
class Source:
    name: str | None
    offer: Offer
    derived: bool


class Scopes:
    """`indexes` maps the id of a table's node to its index in the statement."""

    def __init__(self, indexes: Mapping[int, int]) -> None:
        self._indexes = indexes
        self._ctes = Ctes()
        self._offers: dict[int, Offer] = {}
        self._sources: dict[int, list[Source]] = {}
        self._seen: dict[tuple[int, str], list[Source]] = {}
        self._places: dict[int, Place | None] = {}

    def seen_from(self, node: exp.Expr) -> list[Source]:
        """Returns the sources visible from `node`, nearest scope first; aliases of the SELECT list are a source
        without a name.
        """
        place = self._place(node)
        if place is None:
            return []
        query, key = place
        if (id(query), key) not in self._seen:
            self._seen[id(query), key] = self._own(query, key) + self.seen_from(query)
        return self._seen[id(query), key]

    def _own(self, query: Modified, key: str) -> list[Source]:
        if not isinstance(query, exp.Select):
            return [Source(None, self.offer(query.this), derived=True)]
        aliases = [Source(None, _aliases(query), derived=True)] if key in _USE_ALIASES else []
        return aliases + self.sources(query)

    def _place(self, node: exp.Expr) -> Place | None:
        """Returns the query around a node and its clause. Cached, so that a long chain of operators is climbed only
        once.
        """
        climbed: list[int] = []
        while id(node) not in self._places:
            climbed.append(id(node))
            parent = node.parent
            if parent is None or isinstance(parent, exp.CTE) or _hides_outside(node, parent):
                self._places[id(node)] = None
            elif (place := _as_place(parent, node.arg_key or "")) is not None:
                self._places[id(node)] = place
            else:
                node = parent
        found = self._places[id(node)]
        self._places.update(dict.fromkeys(climbed, found))
        return found

    def sources(self, select: exp.Select) -> list[Source]:
        if id(select) not in self._sources:
            self._sources[id(select)] = self._compute_sources(select)
        return self._sources[id(select)]

    def _compute_sources(self, select: exp.Select) -> list[Source]:
        from_ = select.args.get("from_")
        found = list(self._expand(from_.this)) if from_ is not None else []
        for join in [*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]:
            found += self._expand(join.this if isinstance(join, exp.Join) else join)
        return found

    def offer(self, query: exp.Expr) -> Offer:
        """Returns the columns of a query. A recursive CTE has none within itself."""
        if id(query) not in self._offers:
            self._offers[id(query)] = Offer()
            self._offers[id(query)] = self._compute_offer(query)
        return self._offers[id(query)]

    def _compute_offer(self, query: exp.Expr) -> Offer:
        if isinstance(query, exp.SetOperation | exp.Subquery):
            return self.offer(query.this)
        if not isinstance(query, exp.Select):
            return Offer(known=False)
        names: set[str] = set()
        tables: list[int] = []
        for projection in query.expressions:
            passed = [s for s in self.sources(query) if _passes(projection, s)] if projection.is_star else []
            for source in passed:
                names |= source.offer.names
                tables += source.offer.tables
            if name := projection.output_name:
                names.add(name.casefold())
        return Offer(frozenset(names - {"*"}), tuple(tables))

    def _expand(self, node: exp.Expr) -> Iterator[Source]:
        """Yields a source, and those joined to it within parentheses."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            yield from self._expand(node.this)
        else:
            yield self._source(node)
        for join in node.args.get("joins") or ():
            yield from self._expand(join.this)

    def _source(self, node: exp.Expr) -> Source:
        renamed = _alias_columns(node)
        if renamed:
            return Source(_source_name(node), Offer(renamed), derived=True)
        if id(node) in self._indexes:
            return Source(_source_name(node), Offer(tables=(self._indexes[id(node)],)), derived=False)
        return Source(_source_name(node), self._derived_offer(node), derived=True)

    def _derived_offer(self, node: exp.Expr) -> Offer:
        if isinstance(node, exp.Lateral):
            node = node.this
        if isinstance(node, exp.Subquery):
            return self.offer(node)
        cte = self._ctes.find(node, _part(node.this)) if isinstance(node, exp.Table) and node.name else None
        if cte is None:
            return Offer(known=False)
        renamed = _alias_columns(cte)
        return Offer(renamed) if renamed else self.offer(cte.this)


def _as_place(parent: exp.Expr, key: str) -> Place | None:
    """Returns `parent` as a query whose sources are visible from its clause `key`; ORDER BY after a UNION sees its
    columns.
    """
    if isinstance(parent, exp.Select):
        return (parent, key) if key != "with_" else None
    if isinstance(parent, exp.SetOperation | exp.Subquery) and key not in ("this", "expression", "joins", "with_"):
        return parent, key
    return None


def _hides_outside(child: exp.Expr, parent: exp.Expr) -> bool:
    """Returns whether a subquery in FROM hides the other sources, which it does unless it is LATERAL."""
    is_source = isinstance(parent, exp.From) or (isinstance(parent, exp.Join) and child.arg_key == "this")
    return is_source and isinstance(child, exp.Subquery) and not isinstance(child.this, exp.Table)


def _aliases(select: exp.Select) -> Offer:
    return Offer(frozenset(p.alias.casefold() for p in select.expressions if isinstance(p, exp.Alias)))


def _passes(projection: exp.Expr, source: Source) -> bool:
    """Returns whether `*` or `name.*` includes the columns of a source."""
    if not isinstance(projection, exp.Column | exp.Dot):
        return True
    before = projection.this if isinstance(projection, exp.Dot) else projection.args["table"]
    return bool(before.name.casefold() == source.name)


def _source_name(node: exp.Expr) -> str | None:
    """Returns the qualifier of a source's columns; a table in parentheses may have its alias outside of them."""
    parent = node.parent
    outer = parent.alias if isinstance(parent, exp.Subquery) and isinstance(node, exp.Table) else ""
    name = outer or node.alias_or_name
    return name.casefold() if name else None


def _alias_columns(node: exp.Expr) -> frozenset[str]:
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return frozenset(c.name.casefold() for c in columns or ())


def _part(identifier: exp.Expr) -> Part:
    return Part(identifier.name, bool(identifier.args.get("quoted")))
