"""The queries that a WITH defines: their spans, number of uses, and whether they are expensive.

`engine/planning/optimize/share.py` computes definitions with several uses only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sqlglot import expressions as exp

from pinakes.core.names import Part
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Definition, Span
from pinakes.parser.tables import Ctes

_WORK = (exp.Join, exp.Group, exp.Distinct, exp.AggFunc, exp.Window, exp.Union, exp.Except, exp.Intersect)


def definitions(root: exp.Expr, tokens: Sequence[Token]) -> tuple[Definition, ...]:
    """Returns the definitions of the WITH that a query starts with, in the order of the text; empty if it is
    RECURSIVE.
    """
    if tokens[1].word == "RECURSIVE":
        return ()
    places = list(_places(tokens))
    with_ = root.args.get("with_")
    if with_ is None or len(with_.expressions) != len(places):
        return ()
    return tuple(_read(root, with_.expressions, tokens[0].start, places))


def _read(root: exp.Expr, ctes: Sequence[exp.CTE], start: int, places: list[Span]) -> Iterator[Definition]:
    uses, sampled = _uses(root)
    before = start
    for cte, body in zip(ctes, places, strict=True):
        is_work = next(cte.this.find_all(*_WORK), None) is not None
        yield Definition(cte.alias, start, before, body, uses[id(cte)], is_work, id(cte) in sampled)
        before = body.end + 1


def _uses(root: exp.Expr) -> tuple[Counter[int], set[int]]:
    """Returns the number of uses of each definition, and the definitions with a reader that stops early."""
    ctes, uses, sampled = Ctes(), Counter[int](), set()
    for table in root.find_all(exp.Table):
        if len(table.parts) != 1 or not isinstance(table.this, exp.Identifier):
            continue
        found = ctes.find(table, Part(table.this.this, bool(table.this.args.get("quoted"))))
        if found is not None:
            uses[id(found)] += 1
            if _stops_early(table):
                sampled.add(id(found))
    return uses, sampled


def _stops_early(node: exp.Expr) -> bool:
    """Returns whether a LIMIT above applies before all rows are needed for an order or an aggregate."""
    query = node.find_ancestor(exp.Select, exp.SetOperation)
    while query is not None:
        if query.args.get("order") is not None or _gathers(query):
            return False
        if query.args.get("limit") is not None:
            return True
        query = query.find_ancestor(exp.Select, exp.SetOperation)
    return False


def _gathers(query: exp.Expr) -> bool:
    if not isinstance(query, exp.Select):
        return bool(query.args.get("distinct"))
    if query.args.get("group") is not None or query.args.get("distinct") is not None:
        return True
    return any(next(item.find_all(exp.AggFunc), None) is not None for item in query.expressions)


# --- places ------------------------------------------------------------------------------------------------------


def _places(tokens: Sequence[Token]) -> Iterator[Span]:
    """Yields the span of the body of each definition, without its parentheses: `name [(columns)] AS (body), …`."""
    at = 1
    while at + 2 < len(tokens):
        at += 1
        if tokens[at].word == "(":
            at = _closing(tokens, at) + 1
        if [t.word for t in tokens[at : at + 2]] != ["AS", "("]:
            return
        end = _closing(tokens, at + 1)
        yield Span(tokens[at + 1].end, tokens[end].start)
        if end + 1 >= len(tokens) or tokens[end + 1].word != ",":
            return
        at = end + 2


def _closing(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place].word == "(") - (tokens[place].word == ")")
        if depth == 0:
            return place
    return len(tokens) - 1
