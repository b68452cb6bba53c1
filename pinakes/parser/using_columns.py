"""Columns that JOIN … USING merges: an unqualified reference means the column of the first table.

    FROM a JOIN b USING (k) WHERE k = 1       →   … WHERE a.k = 1
    SELECT * FROM a LEFT JOIN b USING (k)     →   SELECT a.k, a.* EXCEPT (k), b.* EXCEPT (k) FROM …

DataFusion supports this in the SELECT list over two tables; in other clauses, and over three tables, it reports an
ambiguous name. For `*` it takes the column of the table whose name sorts first, which is NULL for unmatched rows, and
keeps its position; in PostgreSQL and the standard it is the first column. Joins that keep rows of the right side are
refused, and so are forms that can't be expanded here (`wrong_results.py`).
"""

from __future__ import annotations

from sqlglot import expressions as exp

from pinakes.core.names import Part

_USE_ALIASES = frozenset({"order", "group", "having", "qualify", "sort"})


def owner_of(node: exp.Expr) -> exp.Expr | None:
    """Returns the source to qualify a reference with; None if it is not a shared column, or is qualified."""
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
    """Returns the `*` of a SELECT list."""
    return next((item for item in select.expressions if isinstance(item, exp.Star)), None)


Keys = tuple[Part, ...] | None
"""The columns of USING; None for NATURAL, which shares all columns with the same name."""


def written_out(select: exp.Expr) -> list[list[tuple[exp.Expr, Keys]]]:
    """Returns the sources that `*` expands to, in groups separated by commas, each with the columns that it shares
    with earlier sources of its group; empty if it is not expanded.
    """
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
    """Returns whether a join returns left rows without a match, so that the table of a key matters."""
    joins = select.args.get("joins") or ()
    return any(j.side == "LEFT" and j.kind not in ("SEMI", "ANTI") and _keys(j) != () for j in joins)


def _keys(join: exp.Join) -> Keys:
    return None if join.method == "NATURAL" else tuple(_part(key) for key in join.args.get("using") or ())


def name_of(source: exp.Expr) -> Part:
    """Returns the qualifier of a source."""
    alias = source.args.get("alias")
    return _part(alias.this if alias is not None and alias.this is not None else source.this)


def _query_around(node: exp.Expr) -> tuple[exp.Select | None, str]:
    """Returns the SELECT around a node, and the clause of the node in it."""
    child, parent = node, node.parent
    while parent is not None and not isinstance(parent, exp.Query):
        child, parent = parent, parent.parent
    return (parent, child.arg_key or "") if isinstance(parent, exp.Select) else (None, "")


def _has_name(source: exp.Expr) -> bool:
    """Returns whether a source can qualify its columns: it has an alias, or is a table."""
    if not isinstance(source, exp.Table | exp.Subquery | exp.Values) or source.args.get("joins"):
        return False
    is_table = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier | exp.Dot)
    return bool(source.alias) or is_table


def _is_shared(column: Part, select: exp.Select) -> bool:
    """Returns whether the first join uses a column of this name, so that the first source has it."""
    joins = select.args.get("joins")
    keys = [_part(key) for key in joins[0].args.get("using") or ()] if joins and select.args.get("from_") else []
    return any(column.matches(key.exact) or key.matches(column.exact) for key in keys)


def _part(identifier: exp.Expr) -> Part:
    return Part(identifier.name, bool(identifier.args.get("quoted")))
