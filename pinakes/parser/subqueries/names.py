"""The queries that the columns of a text belong to, and the places of its subqueries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.constant_filters import AGGREGATES
from pinakes.parser.workarounds.writing import all_below

Columns = Callable[[tuple[str, ...]], Collection[str] | None]
"""The names of the columns of a table; None if they are unknown."""
Names = tuple[str, ...] | None
_SERIES = {"range": ("value",), "generate_series": ("value",)}
Subquery = n.Scalar | n.Exists | n.InQuery | n.Quantified | n.Derived


@dataclass(slots=True, eq=False)
class Source:
    """A table or a subquery in FROM."""

    names: tuple[str, ...]
    columns: Names
    node: n.Node


@dataclass(slots=True, eq=False)
class Scope:
    """The names that one query adds to those of the queries around it."""

    parent: Scope | None
    owner: n.Node
    """Its SELECT, or the query whose ORDER BY sees the columns of UNION."""
    sources: list[Source] = field(default_factory=list)
    aliases: frozenset[str] = frozenset()


class Found(NamedTuple):
    """The source of a column. Its name is `parts[used]`; what follows are fields."""

    scope: Scope
    source: Source | None
    """None for an alias of the SELECT list."""
    used: int


@dataclass(slots=True, eq=False)
class Place:
    """The place of a subquery in the SELECT around it."""

    node: Subquery
    query: n.Query
    """The query that the SELECT is the body of."""
    select: n.Select
    clause: str
    path: tuple[n.Node, ...]
    """The nodes around it, from the outermost of its clause to itself."""
    scope: Scope

    @property
    def inner(self) -> n.Query:
        query = self.node.query
        assert isinstance(query, n.Query)
        return query

    @property
    def is_aggregated(self) -> bool:
        """Whether it is in the argument of an aggregate."""
        return any(isinstance(p, n.Call) and not p.over and p.name in AGGREGATES for p in self.path)


class Resolved:
    """The columns and subqueries of one text."""

    def __init__(self, root: n.Query, columns: Columns) -> None:
        self.found: dict[int, Found] = {}
        self.places: list[Place] = []
        """Those of outer subqueries precede those in them."""
        self.defined: dict[str, n.Defined] = {}
        self._scopes: dict[int, Scope] = {}
        self._columns = columns
        self._bound: tuple[str, ...] = ()
        self._query(root, None, {})

    def free(self, query: n.Query) -> list[n.Column]:
        """Returns the columns in a query that belong to the queries around it."""
        below = list(all_below(query))
        inner = set(map(id, below))
        columns = [node for node in below if isinstance(node, n.Column) and id(node) in self.found]
        return [column for column in columns if id(self.found[id(column)].scope.owner) not in inner]

    def is_known(self, query: n.Query) -> bool:
        """Returns whether the query of every column in a query is known."""
        return all(id(node) in self.found for node in all_below(query) if isinstance(node, n.Column))

    def scopes(self, query: n.Query) -> list[Scope]:
        """Returns the scopes of a query, and of those in it."""
        return [self._scopes[id(node)] for node in all_below(query) if id(node) in self._scopes]

    # --- queries -------------------------------------------------------------------------------------------------

    def _query(self, query: n.Query, parent: Scope | None, defined: dict[str, Names]) -> Names:
        defined = dict(defined)
        for one in query.defined:
            self.defined[one.name] = one
            if query.recursive:
                defined[one.name] = one.columns or None
            found = self._query(one.query, parent, defined)
            defined[one.name] = _renamed(found, one.columns)
        body = query.body
        if isinstance(body, n.Select):
            return self._select(body, query, parent, defined)
        outputs = self._body(body, parent, defined)
        scope = Scope(parent, query, [Source(("",), outputs, body)])
        for node in (*query.order, *query.tail):
            self._expression(node, scope, defined, None)
        return outputs

    def _body(self, body: n.Node, parent: Scope | None, defined: dict[str, Names]) -> Names:
        match body:
            case n.Query():
                return self._query(body, parent, defined)
            case n.Select():  # a side of UNION
                query = n.Query(body.start, body.end, [], recursive=False, body=body)
                return self._select(body, query, parent, defined)
            case n.SetOperation():
                outputs = self._body(body.left, parent, defined)
                self._body(body.right, parent, defined)
                return outputs
            case n.Values():
                scope = Scope(parent, body)
                for row in body.rows:
                    self._expression(row, scope, defined, None)
                width = len(body.rows[0].items) if body.rows else 0
                return tuple(f"column{number + 1}" for number in range(width))
            case n.TableOf():
                return self._table(body.parts, defined)
        return None

    def _select(self, select: n.Select, query: n.Query, parent: Scope | None, defined: dict[str, Names]) -> Names:
        scope = self._scopes[id(select)] = Scope(parent, select)
        joins = list[n.Join]()
        for source in select.sources:
            self._from(source, scope, defined, joins, query)
        aliases = frozenset(item.alias for item in select.items if item.alias is not None)
        late = Scope(parent, select, scope.sources, aliases)
        clauses: list[tuple[str, list[n.Node], Scope]] = [
            ("item", list(select.items), scope),
            ("on", [join.on for join in joins if join.on is not None], scope),
            ("where", [select.where] if select.where is not None else [], scope),
            ("group", [*select.groups, *select.distinct_on], late),
            ("having", [part for part in (select.having, select.qualify) if part is not None], late),
            ("window", select.windows, scope),
            ("order", query.order, late),
            ("limit", query.tail, scope),
        ]
        for clause, nodes, inner in clauses:
            for node in nodes:
                self._expression(node, inner, defined, (query, select, clause))
        return _outputs(select, scope)

    def _table(self, parts: tuple[str, ...], defined: dict[str, Names]) -> Names:
        if len(parts) == 1 and parts[0] in defined:
            return defined[parts[0]]
        known = self._columns(parts)
        return None if known is None else tuple(known)

    # --- FROM ----------------------------------------------------------------------------------------------------

    def _from(self, node: n.Node, scope: Scope, defined: dict[str, Names], joins: list[n.Join], query: n.Query) -> None:
        match node:
            case n.Table():
                names = (node.alias,) if node.alias is not None else node.parts
                scope.sources.append(Source(names, _renamed(self._table(node.parts, defined), node.columns), node))
            case n.Derived():
                self._derived(node, scope, defined, query)
            case n.TableCall():
                for argument in node.arguments:
                    self._expression(argument, scope, defined, None)
                scope.sources.append(Source((node.alias or node.name,), node.columns or _SERIES.get(node.name), node))
            case n.Paren():
                self._from(node.inner, scope, defined, joins, query)
            case n.Aliased():
                inner = Scope(scope.parent, scope.owner)
                self._from(node.source, inner, defined, joins, query)
                known = [source.columns for source in inner.sources]
                merged = None if None in known else tuple(name for names in known for name in names or ())
                scope.sources.append(Source((node.alias,), _renamed(merged, node.columns), node))
            case n.Join():
                first = len(scope.sources)
                self._from(node.left, scope, defined, joins, query)
                second = len(scope.sources)
                self._from(node.right, scope, defined, joins, query)
                joins.append(node)
                if "SEMI" in node.kind or "ANTI" in node.kind:
                    is_right = "RIGHT" in node.kind
                    kept = scope.sources[:first] + scope.sources[second:] if is_right else scope.sources[:second]
                    scope.sources[:] = kept

    def _derived(self, node: n.Derived, scope: Scope, defined: dict[str, Names], query: n.Query) -> None:
        if node.query.start > node.start + 1 and isinstance(scope.owner, n.Select):  # LATERAL (
            lateral = Scope(scope.parent, scope.owner, list(scope.sources))
            self.places.append(Place(node, query, scope.owner, "from", (node,), lateral))
            outputs = self._query(node.query, lateral, defined)
        else:
            outputs = self._query(node.query, scope.parent, defined)
        scope.sources.append(Source((node.alias or "",), _renamed(outputs, node.columns), node))

    # --- expressions ---------------------------------------------------------------------------------------------

    def _expression(
        self,
        node: n.Node,
        scope: Scope,
        defined: dict[str, Names],
        place: tuple[n.Query, n.Select, str] | None,
        path: tuple[n.Node, ...] = (),
    ) -> None:
        path = (*path, node)
        match node:
            case n.Column():
                if node.parts[0] not in self._bound:
                    found = _find(node.parts, scope)
                    if found is not None:
                        self.found[id(node)] = found
                return
            case n.Lambda():
                outer, self._bound = self._bound, (*self._bound, *node.names)
                self._expression(node.body, scope, defined, None)
                self._bound = outer
                return
            case n.Scalar() | n.Exists() | n.InQuery() | n.Quantified():
                if place is not None and isinstance(node.query, n.Query):
                    query, select, clause = place
                    self.places.append(Place(node, query, select, clause, path, scope))
        for child in node.children:
            if isinstance(child, n.Query):
                self._query(child, scope, defined)
            else:
                self._expression(child, scope, defined, place, path)


def _find(parts: tuple[str, ...], scope: Scope | None) -> Found | None:
    while scope is not None:
        for used in range(min(len(parts) - 1, 3), -1, -1):
            for source in scope.sources:
                hides = source.columns is None and source.names == ("",)
                if used and source.names[-used:] != parts[:used] and not hides:
                    continue
                if source.columns is None:
                    if used or source.names == ("",):
                        return None
                    continue
                if parts[used] in source.columns:
                    return Found(scope, source, used)
        if parts[0] in scope.aliases and len(parts) == 1:
            return Found(scope, None, 0)
        if len(parts) == 1 and any(source.columns is None for source in scope.sources):
            return None
        scope = scope.parent
    return None


def _renamed(names: Names, columns: tuple[str, ...]) -> Names:
    if not columns:
        return names
    return columns if names is None else (*columns, *names[len(columns) :])


def _outputs(select: n.Select, scope: Scope) -> Names:
    found = list[str]()
    for item in select.items:
        value = item.value
        if isinstance(value, n.Star):
            if value.changes or value.renamed:
                return None
            for source in scope.sources:
                if value.qualifier and source.names[-len(value.qualifier) :] != value.qualifier:
                    continue
                if source.columns is None:
                    return None
                found += [name for name in source.columns if name not in value.excluded]
        elif item.alias is not None:
            found.append(item.alias)
        else:
            found.append(value.parts[-1] if isinstance(value, n.Column) else "")
    return tuple(found)


def columns_in(node: n.Node) -> Iterator[n.Column]:
    return (part for part in all_below(node) if isinstance(part, n.Column))
