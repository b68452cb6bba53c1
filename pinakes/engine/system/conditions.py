"""Converts DataFusion's predicates on the columns of a system table to predicates on names
(`system_tables/conditions.py`).

A predicate that can't be converted becomes "anything": DataFusion applies every predicate to the rows anyway.
`complete` is true if the entire predicate was converted, so that DataFusion also keeps every row that matches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa
from datafusion import Expr

from pinakes.system_tables.combined import both, either
from pinakes.system_tables.conditions import ANYTHING, Condition, Fold, Level, Like, Not, OneOf

Levels = Mapping[str, Level]
"""The level of names that each column of a table contains."""


class Read(NamedTuple):
    condition: Condition
    complete: bool


_UNKNOWN = Read(ANYTHING, complete=False)


class Subject(NamedTuple):
    """A column, optionally folded to lower or upper case."""

    column: str
    fold: Fold


def read_all(conditions: Iterable[Expr], levels: Levels) -> Read:
    """Converts a conjunction of predicates."""
    found = [read(condition, levels) for condition in conditions]
    return Read(both(*(f.condition for f in found)), all(f.complete for f in found))


def read(e: Expr, levels: Levels) -> Read:
    match e.variant_name():
        case "BinaryExpr":
            return _binary(e, levels)
        case "InList":
            return _in_list(e, levels)
        case "Like":
            return _like(e, levels)
        case "IsNotNull" | "Case" if _is_any_name(e, levels):
            return Read(ANYTHING, complete=True)
        case "Literal" if text_or_truth(e) is True:
            return Read(ANYTHING, complete=True)
    return _UNKNOWN


def subject(e: Expr) -> Subject | None:
    """Returns the column that an expression refers to; None for any other expression."""
    match e.variant_name():
        case "Column":
            return Subject(e.to_variant().name(), "")
        case "Cast" | "TryCast" if _is_text_cast(e):
            return subject(e.rex_call_operands()[0])
        case "ScalarFunction" if e.rex_call_operator() in ("lower", "upper"):
            inner = subject(e.rex_call_operands()[0])
            fold: Fold = "lower" if e.rex_call_operator() == "lower" else "upper"
            return Subject(inner.column, fold) if inner is not None and not inner.fold else None
    return None


def text_or_truth(e: Expr) -> str | bool | None:
    """Returns the value of a string or boolean constant, else None."""
    found = constant_of(e)
    return found if isinstance(found, str | bool) else None


def constant_of(e: Expr) -> object:
    """Returns the value of a constant as a Python object; None for any other expression."""
    if e.variant_name() != "Literal":
        return None
    value = e.python_value()
    return value.as_py() if isinstance(value, pa.Scalar) else value


def output_name(e: Expr) -> str:
    """Returns the output name of a SELECT item, without its table qualifier."""
    match e.variant_name():
        case "Alias":
            return str(e.to_variant().alias())
        case "Column":
            return str(e.to_variant().name())
        case _:
            return str(e.schema_name())


def unaliased(e: Expr) -> Expr:
    return e.rex_call_operands()[0] if e.variant_name() == "Alias" else e


def _is_text_cast(e: Expr) -> bool:
    """Whether a cast only changes the string layout. A cast to any other type changes the value."""
    try:
        return pa.types.is_string(e.types()) or "Utf8" in str(e.canonical_name()).rsplit(" AS ", 1)[-1]
    except Exception:  # noqa: BLE001 - not every type has a Python one, and then it is no text
        return False


def _binary(e: Expr, levels: Levels) -> Read:
    operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
    if operator in ("AND", "OR"):
        parts = [read(part, levels) for part in _operands(e, operator)]
        joined = both if operator == "AND" else either
        return Read(joined(*(p.condition for p in parts)), all(p.complete for p in parts))
    if operator not in ("=", "!="):
        return _UNKNOWN
    if left.variant_name() == "Literal":
        left, right = right, left
    found = _one_of(left, [right], levels)
    return found if operator == "=" else _negated(found)


def _operands(e: Expr, operator: str) -> list[Expr]:
    """Returns the operands of a chain of AND or OR. Iterative, since the chain may exceed Python's recursion limit."""
    found, waiting = [], [e]
    while waiting:
        part = waiting.pop()
        if part.variant_name() == "BinaryExpr" and part.rex_call_operator() == operator:
            waiting += reversed(part.rex_call_operands())
        else:
            found.append(part)
    return found


def _in_list(e: Expr, levels: Levels) -> Read:
    tested, *listed = e.rex_call_operands()
    found = _one_of(tested, listed, levels)
    return _negated(found) if e.to_variant().negated() else found


def _negated(found: Read) -> Read:
    """Returns the negation, which is supported for a predicate on a single name only."""
    return Read(Not(found.condition), complete=True) if isinstance(found.condition, OneOf | Like) else _UNKNOWN


def _is_any_name(e: Expr, levels: Levels) -> bool:
    """Whether this is IS NOT NULL, or DataFusion's rewrite of LIKE '%': CASE x IS NOT NULL WHEN true THEN true END."""
    if e.variant_name() == "Case":
        case = e.to_variant()
        pairs = [(text_or_truth(when), text_or_truth(then)) for when, then in case.when_then_expr()]
        if case.expr() is None or pairs != [(True, True)] or case.else_expr() is not None:
            return False
        e = case.expr()
    about = subject(e.rex_call_operands()[0]) if e.variant_name() == "IsNotNull" else None
    return about is not None and about.column in levels


def _one_of(tested: Expr, constants: list[Expr], levels: Levels) -> Read:
    if tested.variant_name() == "ScalarFunction" and tested.rex_call_operator() == "struct":
        return _one_row_of(tested.rex_call_operands(), constants, levels)
    about = subject(tested)
    values = [text_or_truth(constant) for constant in constants]
    texts = frozenset(v for v in values if isinstance(v, str))
    if about is None or about.column not in levels or len(texts) != len(set(values)):
        return _UNKNOWN
    return Read(OneOf(levels[about.column], texts, about.fold), complete=True)


def _one_row_of(tested: list[Expr], constants: list[Expr], levels: Levels) -> Read:
    """Converts (table_schema, table_name) IN (('a', 'b'), …). DataFusion names the fields of the rows c0, c1, …"""
    abouts = [subject(e) for e in tested]
    rows = []
    for constant in constants:
        row = constant_of(constant)
        if not isinstance(row, dict) or list(row) != [f"c{i}" for i in range(len(abouts))]:
            return _UNKNOWN
        known = zip(abouts, row.values(), strict=True)
        names = [(levels[a.column], v, a.fold) for a, v in known if a and a.column in levels and isinstance(v, str)]
        rows.append(both(*(OneOf(level, frozenset({value}), fold) for level, value, fold in names)))
    return Read(either(*rows), complete=False)


def _like(e: Expr, levels: Levels) -> Read:
    like = e.to_variant()
    about, pattern = subject(like.expr()), text_or_truth(like.pattern())
    if about is None or about.column not in levels or not isinstance(pattern, str):
        return _UNKNOWN
    if like.escape_char() not in (None, "\\"):
        return _UNKNOWN
    caseless = " ILIKE " in e.canonical_name()
    found = Read(Like(levels[about.column], pattern, caseless, about.fold), complete=True)
    return _negated(found) if like.negated() else found
