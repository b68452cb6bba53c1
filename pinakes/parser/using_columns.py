"""Columns that JOIN … USING makes one of two: without a table in front they mean that of the first.

    FROM a JOIN b USING (k) WHERE k = 1       →   … WHERE a.k = 1
    SELECT * FROM a LEFT JOIN b USING (k)     →   SELECT a.k, a.* EXCEPT (k), b.* EXCEPT (k) FROM …

DataFusion knows so much in the SELECT list over two tables; elsewhere, and over three, it calls the name ambiguous. For
`*` it takes the column of whichever table comes first by its name, which for rows without a partner is NULL, and leaves
it in its place; it is the first one in PostgreSQL and in the standard. Joins that keep rows of the right side are
refused, and what can't be written out here (`unsound.py`).
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
    return first if _has_name(first) else None


def star_of(select: exp.Expr) -> exp.Star | None:
    """The `*` of a SELECT list."""
    return next((item for item in select.expressions if isinstance(item, exp.Star)), None)


Keys = tuple[Part, ...] | None
"""The columns of USING; None for NATURAL, which shares all that have the same name."""


def written_out(select: exp.Expr) -> list[list[tuple[exp.Expr, Keys]]]:
    """The sources that `*` is of, each with the columns that it shares with those before it and behind the last comma;
    none where it stays."""
    star, from_, joins = star_of(select), select.args.get("from_"), select.args.get("joins") or ()
    if star is None or from_ is None or select.args.get("laterals") or any(star.args.values()):
        return []
    shown = [join for join in joins if join.kind not in ("SEMI", "ANTI")]
    found: list[list[tuple[exp.Expr, Keys]]] = [[(from_.this, ())]]
    for join in shown:
        if not any(value for name, value in join.args.items() if name != "this"):  # a comma
            found.append([])
        found[-1].append((join.this, _keys(join)))
    each = [one for joined in found for one in joined]
    is_plain = all(_has_name(source) for source, _ in each) and all(j.method in ("", "NATURAL") for j in joins)
    return found if is_plain and any(keys != () for _, keys in each) else []


def keeps_left(select: exp.Expr) -> bool:
    """Whether a join of it gives rows that have a partner on the left side only: then it matters whose a key is."""
    joins = select.args.get("joins") or ()
    return any(j.side == "LEFT" and j.kind not in ("SEMI", "ANTI") and _keys(j) != () for j in joins)


def _keys(join: exp.Join) -> Keys:
    return None if join.method == "NATURAL" else tuple(_part(key) for key in join.args.get("using") or ())


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


def _has_name(source: exp.Expr) -> bool:
    """Whether a source can be put before its columns: it has an alias, or is a table of its own."""
    if not isinstance(source, exp.Table | exp.Subquery | exp.Values) or source.args.get("joins"):
        return False
    is_table = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier | exp.Dot)
    return bool(source.alias) or is_table


def _is_shared(column: Part, select: exp.Select) -> bool:
    """Whether the first join is by a column of this name: then the first source has it."""
    joins = select.args.get("joins")
    keys = [_part(key) for key in joins[0].args.get("using") or ()] if joins and select.args.get("from_") else []
    return any(column.matches(key.exact) or key.matches(column.exact) for key in keys)


def _part(identifier: exp.Expr) -> Part:
    return Part(identifier.name, bool(identifier.args.get("quoted")))
