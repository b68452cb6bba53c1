"""Refuses forms that DataFusion answers with wrong rows, each with an alternative.

Each refusal matches only the wrong shape; `tests/parser/test_unsound.py` has similar shapes that are right and must be
accepted. `rewrites.py` has the forms that can be fixed in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import expressions as exp

from pinakes.parser.faults import Fault
from pinakes.parser.using_columns import star_of, written_out

WORDS = frozenset({"FULL", "RIGHT", "LEFT", "RECURSIVE"})
"""A statement without these words needs no check of its tree."""

LOST_NULLS = (
    "[NOT] IN (SELECT …) is not supported in this place, since NULL would be taken for false: write it as a condition "
    "of WHERE, joined to others by AND, or [NOT] EXISTS (SELECT … WHERE …)"
)
CAPTURED = (
    "{0} (SELECT …) is not supported in this place: write it in WHERE, over tables of other names than those outside, "
    "or [NOT] EXISTS (SELECT … WHERE …)"
)

_CONDITIONS = (exp.Where, exp.Having, exp.Qualify, exp.Join)


def refuse_wrong_results(root: exp.Expr, words: set[str]) -> None:
    """Raises a Fault at the first form that would be answered wrongly."""
    if "FULL" in words or "RIGHT" in words:
        _refuse_shared_keys(root)
    if "LEFT" in words and not words.isdisjoint(("USING", "NATURAL")):
        _refuse_lost_keys(root)
    if "RECURSIVE" in words and not words.isdisjoint(("LIMIT", "OFFSET", "FETCH")):
        _refuse_lost_limits(root)


def refuse_subqueries_of(root: exp.Expr) -> None:
    """Raises a Fault at the first subquery that would be answered wrongly, in a text that can't be rewritten
    (`subqueries/`).
    """
    _refuse_captured_columns(root)
    _refuse_lost_nulls(root)


# --- FULL JOIN … USING -------------------------------------------------------------------------------------------


def _refuse_shared_keys(root: exp.Expr) -> None:
    """The key of a row that only the right side has would be NULL: DataFusion takes it from the left side."""
    for join in root.find_all(exp.Join):
        side, natural = join.side, join.method == "NATURAL"
        if side not in ("FULL", "RIGHT") or join.kind in ("SEMI", "ANTI") or not (natural or join.args.get("using")):
            continue
        clause = f"NATURAL {side} JOIN" if natural else f"{side} JOIN … USING"
        instead = "ON and coalesce(a.key, b.key)" if side == "FULL" else "a LEFT JOIN with the two sides swapped"
        raise _fault(f"{clause} is not supported: its key would be that of the left side alone. Write {instead}", join)


def _refuse_lost_keys(root: exp.Expr) -> None:
    """The key of `*` would be that of the right side, NULL for unmatched rows, if the right table's name sorts
    first. Forms that can be expanded are (`using_columns.py`).
    """
    for join in root.find_all(exp.Join):
        natural = join.method == "NATURAL"
        if join.side != "LEFT" or join.kind in ("SEMI", "ANTI") or not (natural or join.args.get("using")):
            continue
        select = join.find_ancestor(exp.Query)
        while isinstance(select, exp.Subquery) and isinstance(select.this, exp.Table):  # only parentheses
            select = select.find_ancestor(exp.Query)
        if isinstance(select, exp.Select) and star_of(select) is not None and not written_out(select):
            clause = "NATURAL LEFT JOIN" if natural else "LEFT JOIN … USING"
            raise _fault(
                f"SELECT * over this {clause} is not supported: its key might be NULL. Give all of its tables aliases, "
                "and write a.*, b.* EXCEPT (…)",
                join,
            )


# --- > ALL (SELECT …) --------------------------------------------------------------------------------------------


def _refuse_captured_columns(root: exp.Expr) -> None:
    """The compared column would be looked up within the subquery first, if sources have the same name, or none."""
    for quantified in root.find_all(exp.All, exp.Any):
        query = quantified.this.unnest() if isinstance(quantified.this, exp.Expr) else None
        if not isinstance(query, exp.Query):
            continue
        outer, inner = set(_sources_around(quantified)), set(_sources(query))
        clause = quantified.find_ancestor(exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Select)
        if outer.isdisjoint(inner) and "" not in outer | inner and not isinstance(clause, exp.Having | exp.Qualify):
            continue
        word = "ALL" if isinstance(quantified, exp.All) else "ANY"
        raise _fault(CAPTURED.format(word), quantified.parent or quantified)


def _sources_around(node: exp.Expr) -> Iterator[str]:
    """Yields the names of the sources of every query around a node; empty for one without a name."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        yield from _own_sources(select)
        select = select.find_ancestor(exp.Select)


def _sources(query: exp.Expr) -> Iterator[str]:
    for select in query.find_all(exp.Select):
        yield from _own_sources(select)


def _own_sources(select: exp.Expr) -> Iterator[str]:
    froms = [select.args.get("from_"), *(select.args.get("joins") or ())]
    for source in froms:
        if source is not None:
            yield source.this.alias_or_name.casefold()


# --- NOT IN (SELECT …) -------------------------------------------------------------------------------------------


def _refuse_lost_nulls(root: exp.Expr) -> None:
    """IN (SELECT …) is true, false or NULL. DataFusion distinguishes NULL from false only where it is a top-level
    predicate.
    """
    for found in root.find_all(exp.In):
        if found.args.get("query") is not None and not _is_sound(found):
            raise _fault(LOST_NULLS, found)


def _is_sound(found: exp.Expr) -> bool:
    """Returns whether treating NULL as false makes no difference: there is no NOT around it, or only conjunctions."""
    negated = 0
    joined: list[tuple[bool, int]] = []
    child, node = found, found.parent
    while True:
        match node:
            case exp.Paren() | exp.Subquery():
                pass
            case exp.Not():
                negated += 1
            case exp.And() | exp.Or():
                joined.append((isinstance(node, exp.And), negated))
            case exp.Is() if isinstance(node.expression, exp.Boolean) and node.expression.this:
                return negated % 2 == 0
            case exp.If() if child.arg_key == "this":
                return negated % 2 == 0
            case _:
                return _is_sound_below(node, negated, joined)
        child, node = node, node.parent


def _is_sound_below(top: exp.Expr | None, negated: int, joined: list[tuple[bool, int]]) -> bool:
    """Does the same for a chain of NOT, AND and OR below `top`."""
    if isinstance(top, _CONDITIONS):
        conjunct = all(is_and == ((negated - inside) % 2 == 0) for is_and, inside in joined)
        return conjunct or negated % 2 == 0
    return isinstance(top, exp.Select) and negated % 2 == 0  # a value: DataFusion refuses it by itself


# --- WITH RECURSIVE … LIMIT --------------------------------------------------------------------------------------


def _refuse_lost_limits(root: exp.Expr) -> None:
    """DataFusion ignores the LIMIT of a recursive query and that of its last part."""
    for clause in root.find_all(exp.With):
        for defined in clause.expressions if clause.recursive else ():
            query = defined.this
            names_itself = any(t.name.casefold() == defined.alias.casefold() for t in query.find_all(exp.Table))
            if isinstance(query, exp.SetOperation) and names_itself and any(map(query.args.get, ("limit", "offset"))):
                raise _fault(
                    "LIMIT within WITH RECURSIVE is not supported: write it after the query that reads it", query
                )


def _fault(message: str, node: exp.Expr) -> Fault:
    places = [i.meta["start"] for i in node.find_all(exp.Identifier) if "start" in i.meta]
    return Fault(message, min(places, default=0), unsupported=True)
