"""References to columns in sqlglot's tree with their possible tables, and each `*` that must be expanded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import expressions as exp

from pinakes.core.names import Part
from pinakes.parser.locate import Tree
from pinakes.parser.scopes import Scopes, Source
from pinakes.parser.statements import ColumnRef, References, SessionValue, SharedStar, Span, TableRef
from pinakes.parser.tables import table_nodes
from pinakes.parser.using_columns import keeps_left, name_of, owner_of, star_of, written_out


def references_of(tree: Tree, tables: Sequence[TableRef], values: Sequence[SessionValue]) -> References:
    """Returns the references of a tree, given its located tables and its session values, which look like columns."""
    places = {table.span: i for i, table in enumerate(tables)}
    indexes = {id(node): places.get(ref.span, -1) for node, ref in table_nodes(tree)}
    return References(_columns(tree, indexes, values), _stars(tree, indexes))


def _columns(tree: Tree, indexes: Mapping[int, int], values: Sequence[SessionValue]) -> tuple[ColumnRef, ...]:
    """Returns all references to columns, in the order of the text."""
    scopes = Scopes(indexes)
    starts = {value.span.start for value in values}
    found = [
        replace(_column_ref(parts, node, scopes), owner=_owner(node, indexes))
        for node in _references(tree.root)
        if (parts := _placed_parts(node))
    ]
    return tuple(sorted((c for c in found if c.span.start not in starts), key=lambda c: c.span.start))


def _stars(tree: Tree, indexes: Mapping[int, int]) -> tuple[SharedStar, ...]:
    """Returns each `*` for which DataFusion would take a shared column from the wrong table or in the wrong
    position.
    """
    found = [(star_of(s), written_out(s), keeps_left(s)) for s in tree.root.find_all(exp.Select)]
    return tuple(
        SharedStar(
            Span(star.meta["start"], star.meta["end"] + 1),
            tuple(tuple((indexes.get(id(source), name_of(source)), keys) for source, keys in one) for one in joined),
            is_left,
        )
        for star, joined, is_left in found
        if star is not None and joined
    )


def _owner(node: exp.Expr, indexes: Mapping[int, int]) -> int | Part | None:
    source = owner_of(node)
    return None if source is None else indexes.get(id(source), name_of(source))


def _references(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yields nodes that name a column; for a name of many parts, which sqlglot nests, the outermost."""
    for column in tree.find_all(exp.Column):
        node: exp.Expr = column
        while isinstance(node.parent, exp.Dot) and node.arg_key == "this" and _is_part(node.parent.expression):
            node = node.parent
        yield node
    for join in tree.find_all(exp.Join):
        yield from join.args.get("using") or ()


def _is_part(node: exp.Expr) -> bool:
    return isinstance(node, exp.Identifier | exp.Star)


def _column_ref(identifiers: list[exp.Expr], node: exp.Expr, scopes: Scopes) -> ColumnRef:
    parts = [Part("*") if isinstance(i, exp.Star) else Part(i.name, bool(i.args.get("quoted"))) for i in identifiers]
    spans = tuple(Span(i.meta["start"], i.meta["end"] + 1) for i in identifiers)
    *qualifier, name = parts
    sources = scopes.seen_from(node)
    tables, derived = _origin(sources, parts)
    return ColumnRef(
        name=name,
        qualifier=tuple(qualifier),
        span=Span(spans[0].start, spans[-1].end),
        spans=spans,
        tables=tables,
        derived=derived,
        exposed=_is_exposed(node),
        field=isinstance(node.parent, exp.Select) and node.arg_key == "expressions" and _is_field(sources, parts),
    )


def _is_field(sources: list[Source], parts: list[Part]) -> bool:
    """Returns whether more than a column follows the last part that names a source."""
    names, folded = {s.name for s in sources}, [p.text.casefold() for p in parts]
    column = next((at + 1 for at in range(len(parts) - 2, -1, -1) if folded[at] in names), 0)
    return column < len(parts) - 1 and parts[-1].text != "*"


def _placed_parts(node: exp.Expr) -> list[exp.Expr]:
    """Returns the parts of a dotted name; empty if sqlglot made up one of them (the empty one in `a..b`)."""
    parts = _parts(node)
    return parts if all("start" in p.meta for p in parts) else []


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Returns the parts below an outermost node; those beyond the fourth are nested to the left."""
    after: list[exp.Expr] = []
    while isinstance(node, exp.Dot):
        after.append(node.expression)
        node = node.this
    before = list(node.parts) if isinstance(node, exp.Column) else [node]
    return [*before, *reversed(after)]


def _origin(sources: list[Source], parts: list[Part]) -> tuple[tuple[int, ...], bool]:
    """Returns the base tables of a reference, and whether a derived source offers it."""
    folded = [p.text.casefold() for p in parts]
    for at in range(len(parts) - 2, -1, -1):  # the last part that names a source is the qualifier; fields follow it
        qualified = [s for s in sources if s.name == folded[at]]
        if qualified:
            column = folded[at + 1]
            derived = any(column in s.offer.names or column == "*" or not s.offer.known for s in qualified if s.derived)
            return _tables(qualified), derived
    return _tables(sources), any(folded[0] in s.offer.names for s in sources if s.derived)


def _tables(sources: list[Source]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(i for s in sources for i in s.offer.tables))


def _is_exposed(node: exp.Expr) -> bool:
    """Returns whether this is a projection without an alias, of a query that others read from."""
    query = node.parent
    if not isinstance(query, exp.Select) or node.arg_key != "expressions":
        return False
    while isinstance(query.parent, exp.SetOperation | exp.Subquery):
        query = query.parent
    return isinstance(query.parent, exp.CTE | exp.From | exp.Lateral) or (
        isinstance(query.parent, exp.Join) and query.arg_key == "this"
    )
