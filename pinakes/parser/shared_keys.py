"""Columns that JOIN … USING makes one of two: without a table in front they mean that of the first.

    FROM a JOIN b USING (k) WHERE k = 1   →   … WHERE a.k = 1

DataFusion knows so much in the SELECT list over two tables; elsewhere, and over three, it calls the name ambiguous.
Which side is meant makes a difference for outer joins only, and those that keep rows of the right side are refused
(`unsound.py`).
"""

from __future__ import annotations

from sqlglot import expressions as exp

from pinakes.core.names import Part

_USE_ALIASES = frozenset({"order", "group", "having", "qualify", "sort"})


def owner_of(node: exp.Expr) -> exp.Expr | None:
    """The source that a reference is to be qualified with; None if it is no shared column, or has a table in front."""
    if not isinstance(node, exp.Column) or len(node.parts) != 1:
        return None
    select, clause = _query_around(node)
    if select is None or not _is_shared(_part(node.this), select):
        return None
    if clause in _USE_ALIASES and any(p.alias == node.name for p in select.expressions if isinstance(p, exp.Alias)):
        return None
    first: exp.Expr = select.args["from_"].this
    return first if first.alias_or_name and not first.args.get("joins") else None


def name_of(source: exp.Expr) -> Part:
    """What a source goes by."""
    alias = source.args.get("alias")
    return _part(alias.this if alias is not None and alias.this is not None else source.this)


def _query_around(node: exp.Expr) -> tuple[exp.Select | None, str]:
    """The SELECT whose own clause a node stands in, and which."""
    child, parent = node, node.parent
    while parent is not None and not isinstance(parent, exp.Query):
        child, parent = parent, parent.parent
    return (parent, child.arg_key or "") if isinstance(parent, exp.Select) else (None, "")


def _is_shared(column: Part, select: exp.Select) -> bool:
    """Whether the first join is by a column of this name: then the first source has it."""
    joins = select.args.get("joins")
    keys = [_part(key) for key in joins[0].args.get("using") or ()] if joins and select.args.get("from_") else []
    return any(column.matches(key.exact) or key.matches(column.exact) for key in keys)


def _part(identifier: exp.Expr) -> Part:
    return Part(identifier.name, bool(identifier.args.get("quoted")))
