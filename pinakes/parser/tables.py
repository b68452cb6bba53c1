"""The tables of sqlglot's tree: names, spans, aliases, AS OF; without names that a WITH defines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import expressions as exp

from pinakes.core.names import Name, Part
from pinakes.parser.cursor import as_name
from pinakes.parser.faults import Fault
from pinakes.parser.locate import Tree
from pinakes.parser.statements import AsOf, Span, TableRef


def tables_of(tree: Tree) -> tuple[TableRef, ...]:
    """Returns the tables of a tree in the order of the text."""
    return tuple([ref for _, ref in table_nodes(tree)])


def table_nodes(tree: Tree) -> list[tuple[exp.Table, TableRef]]:
    """Does the same and returns the node of each."""
    pairs = [(table, _table_ref(table, tree)) for table in tree.root.find_all(exp.Table)]
    found = [(table, ref) for table, ref in pairs if ref is not None]
    found.sort(key=lambda pair: pair[1].span.start)
    if tree.as_of:
        found = _with_clauses(found, tree.as_of)
    return _without_ctes(found) if tree.has_with else found


def _table_ref(table: exp.Table, tree: Tree) -> TableRef | None:
    """Locates a table; None for a table function of DataFusion."""
    parts: list[Part] = []
    start = end = -1
    for identifier in table.parts:
        if not isinstance(identifier, exp.Identifier):
            return None
        meta = identifier.meta
        if "start" not in meta:
            raise Fault(f"the name {table.name} can't be located", 0)
        start = meta["start"] if start < 0 else start
        end = meta["end"] + 1
        parts.append(Part(identifier.this, bool(identifier.args.get("quoted"))))
    if not parts:
        return None
    call = tree.calls.get(start)
    name = Name((Part(call.name),)) if call else _name(tuple(parts), tree.text, identifier.meta["start"])
    if name.is_path:
        identifier.set("this", name.called)  # the qualifier of its columns
    return TableRef(name, Span(start, end), _alias(table), call=call)


def _name(parts: tuple[Part, ...], text: str, last: int) -> Name:
    """Returns the name; a last part that is a string is a path."""
    if parts[-1].quoted and text[last] not in '"`':
        return Name(parts, is_path=True)
    return as_name(parts)


def _alias(table: exp.Table) -> Part | None:
    """Returns its own alias, or that of the parentheses that contain only the table."""
    alias = table.args.get("alias")
    if alias is None and isinstance(table.parent, exp.Subquery) and not table.args.get("joins"):
        alias = table.parent.args.get("alias")
    identifier = alias.this if alias is not None else None
    return Part(identifier.this, bool(identifier.args.get("quoted"))) if identifier is not None else None


class Ctes:
    """The names that each WITH of a tree defines, cached."""

    def __init__(self) -> None:
        self._names: dict[int, dict[str, int]] = {}

    def find(self, table: exp.Expr, name: Part) -> exp.CTE | None:
        """Returns the CTE that `name` refers to at `table`: an earlier sibling, or itself only if RECURSIVE."""
        child, node = table, table.parent
        while node is not None:
            with_ = node if isinstance(node, exp.With) else node.args.get("with_")
            if with_ is not None and with_ is not child:
                at = self._by_name(with_).get(name.exact)
                found: exp.CTE | None = with_.expressions[at] if at is not None else None
                if found is not None and (with_ is not node or _comes_before(found, child)):
                    return found
            child, node = node, node.parent
        return None

    def _by_name(self, with_: exp.With) -> dict[str, int]:
        if id(with_) not in self._names:
            self._names[id(with_)] = {_cte_name(cte): i for i, cte in enumerate(with_.expressions)}
        return self._names[id(with_)]


def _comes_before(cte: exp.CTE, sibling: exp.Expr) -> bool:
    """Returns whether `sibling`, of the same WITH, may use `cte`."""
    at, place = cte.index or 0, sibling.index or 0
    return at < place or (cte is sibling and cte.parent is not None and bool(cte.parent.args.get("recursive")))


def _cte_name(cte: exp.CTE) -> str:
    identifier = cte.args["alias"].this
    return Part(identifier.this, bool(identifier.args.get("quoted"))).exact


def _with_clauses(found: list[tuple[exp.Table, TableRef]], as_of: Sequence[AsOf]) -> list[tuple[exp.Table, TableRef]]:
    """Attaches each AS OF clause to the last table before it."""
    for clause in as_of:
        before = [i for i, (_, ref) in enumerate(found) if ref.span.end <= clause.span.start]
        if not before:
            raise Fault("AS OF needs a table before it", clause.span.start)
        node, ref = found[before[-1]]
        found[before[-1]] = (node, replace(ref, as_of=clause))
    return found


def _without_ctes(found: list[tuple[exp.Table, TableRef]]) -> list[tuple[exp.Table, TableRef]]:
    ctes = Ctes()
    kept: list[tuple[exp.Table, TableRef]] = []
    for table, ref in found:
        if len(ref.name.parts) > 1 or ctes.find(table, ref.name.last) is None:
            kept.append((table, ref))
        elif ref.as_of is not None:
            raise Fault(f"{ref.name} is defined by WITH: AS OF is for tables", ref.as_of.span.start)
    return kept
