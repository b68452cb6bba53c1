"""The tables of sqlglot's tree: names, places, aliases, AS OF; names that a WITH defines are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import expressions as exp

from pinakes.core.names import Name, Part
from pinakes.parser.cursor import as_name
from pinakes.parser.faults import Fault
from pinakes.parser.statements import AsOf, Span, TableRef


def tables_of(tree: exp.Expr, text: str, as_of: Sequence[AsOf]) -> tuple[TableRef, ...]:
    """The tables of a tree in the order of the text."""
    return tuple(ref for _, ref in table_nodes(tree, text, as_of))


def table_nodes(tree: exp.Expr, text: str, as_of: Sequence[AsOf]) -> list[tuple[exp.Table, TableRef]]:
    """The same, each with its node."""
    found: list[tuple[exp.Table, TableRef]] = []
    has_cte = tree.find(exp.With) is not None
    for table in tree.find_all(exp.Table):
        ref = _table_ref(table, text)
        if ref is not None and not (has_cte and len(ref.name.parts) == 1 and names_cte(table, ref.name.last)):
            found.append((table, ref))
    found.sort(key=lambda pair: pair[1].span.start)
    return _with_clauses(found, as_of) if as_of else found


def _table_ref(table: exp.Table, text: str) -> TableRef | None:
    """Where a table stands, or None for a table function."""
    parts: list[Part] = []
    start = end = -1
    for identifier in table.parts:
        if not isinstance(identifier, exp.Identifier):
            return None
        meta = identifier.meta
        start = meta["start"] if start < 0 else start
        end = meta["end"] + 1
        parts.append(Part(identifier.this, bool(identifier.args.get("quoted"))))
    if not parts:
        return None
    return TableRef(_name(tuple(parts), text, identifier.meta["start"]), Span(start, end), _alias(table))


def _name(parts: tuple[Part, ...], text: str, last: int) -> Name:
    """A last part that is a string is a path, whatever it looks like."""
    if parts[-1].quoted and text[last] not in '"`':
        return Name(parts, is_path=True)
    return as_name(parts)


def _alias(table: exp.Table) -> Part | None:
    """Its own, or that of the parentheses it stands in alone."""
    alias = table.args.get("alias")
    if alias is None and isinstance(table.parent, exp.Subquery) and not table.args.get("joins"):
        alias = table.parent.args.get("alias")
    identifier = alias.this if alias is not None else None
    return Part(identifier.this, bool(identifier.args.get("quoted"))) if identifier is not None else None


def names_cte(table: exp.Expr, name: Part) -> bool:
    """Whether a WITH around `table` defines `name` for this place: earlier siblings, itself only if RECURSIVE."""
    return find_cte(table, name) is not None


def find_cte(table: exp.Expr, name: Part) -> exp.CTE | None:
    child, node = table, table.parent
    while node is not None:
        ctes: Iterable[exp.CTE] = ()
        if isinstance(node, exp.With):
            at = next(i for i, cte in enumerate(node.expressions) if cte is child)
            ctes = node.expressions[: at + 1 if node.args.get("recursive") else at]
        elif (with_ := node.args.get("with_")) is not None and with_ is not child:
            ctes = with_.expressions
        for cte in ctes:
            if _cte_name(cte) == name.exact:
                return cte
        child, node = node, node.parent
    return None


def _cte_name(cte: exp.CTE) -> str:
    identifier = cte.args["alias"].this
    return Part(identifier.this, bool(identifier.args.get("quoted"))).exact


def _with_clauses(found: list[tuple[exp.Table, TableRef]], as_of: Sequence[AsOf]) -> list[tuple[exp.Table, TableRef]]:
    """Each AS OF clause goes to the last table before it."""
    for clause in as_of:
        before = [i for i, (_, ref) in enumerate(found) if ref.span.end <= clause.span.start]
        if not before:
            raise Fault("AS OF needs a table before it", clause.span.start)
        node, ref = found[before[-1]]
        found[before[-1]] = (node, TableRef(ref.name, ref.span, ref.alias, clause))
    return found
