"""Converts predicates on the columns of a system table to predicates on names (`system_tables/name_predicates.py`).

A predicate that can't be converted becomes "anything": DataFusion applies every predicate to the rows anyway.
`complete` is true if the entire predicate was converted, so that DataFusion also keeps every row that matches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pinakes.engine.pushdown import predicate as p
from pinakes.engine.pushdown.join_values import subject
from pinakes.system_tables.name_predicates import ANYTHING, Level, Like, NamePredicate, Not, OneOf, both, either

Levels = Mapping[str, Level]
"""The level of names that each column of a table contains."""


class Read(NamedTuple):
    condition: NamePredicate
    complete: bool


_EVERY_NAME = Read(ANYTHING, complete=True)
_UNKNOWN = Read(ANYTHING, complete=False)


def converted(predicate: p.Predicate, levels: Levels) -> Read:
    match predicate:
        case p.And(parts) | p.Or(parts):
            found = [converted(part, levels) for part in parts]
            joined = both if isinstance(predicate, p.And) else either
            return Read(joined(*(f.condition for f in found)), all(f.complete for f in found))
        case p.Comparison("=" | "!=" as operator, tested, value):
            return _one_of(tested, [value], levels, negated=operator == "!=")
        case p.In(tested, values, negated):
            return _one_of(tested, values, levels, negated=negated)
        case p.Like():
            return _like(predicate, levels)
        case p.Is(tested, "NULL", True) | p.Case(p.Is(tested, "NULL", True)):
            is_plain = isinstance(predicate, p.Is) or _is_any(predicate)
            about = subject(tested)
            return _EVERY_NAME if is_plain and about is not None and about.column in levels else _UNKNOWN
        case p.Literal(value) if value.as_py() is True:
            return _EVERY_NAME
    return _UNKNOWN


def _is_any(case: p.Case) -> bool:
    """Whether this is DataFusion's rewrite of LIKE '%': CASE x IS NOT NULL WHEN true THEN true END."""
    return (_constant(case.when), _constant(case.then), case.otherwise) == (True, True, None)


def _constant(e: p.Predicate) -> object:
    """Returns the value of a constant as a Python object; None for any other expression."""
    return e.value.as_py() if isinstance(e, p.Literal) else None


def _negated(found: Read) -> Read:
    """Returns the negation, which is supported for a predicate on a single name only."""
    return Read(Not(found.condition), complete=True) if isinstance(found.condition, OneOf | Like) else _UNKNOWN


def _one_of(tested: p.Predicate, constants: Sequence[p.Predicate], levels: Levels, *, negated: bool) -> Read:
    values = [_constant(constant) for constant in constants]
    if isinstance(tested, p.Call) and tested.function == "struct":
        return _UNKNOWN if negated else _one_row_of(tested.arguments, values, levels)
    about, texts = subject(tested), frozenset(value for value in values if isinstance(value, str))
    if about is None or about.column not in levels or not all(isinstance(value, str) for value in values):
        return _UNKNOWN
    found = Read(OneOf(levels[about.column], texts, about.fold), complete=True)
    return _negated(found) if negated else found


def _one_row_of(tested: Sequence[p.Predicate], rows: Sequence[object], levels: Levels) -> Read:
    """Converts (table_schema, table_name) IN (('a', 'b'), …). DataFusion names the fields of the rows c0, c1, …"""
    abouts = [subject(e) for e in tested]
    found = []
    for row in rows:
        if not isinstance(row, dict) or list(row) != [f"c{i}" for i in range(len(abouts))]:
            return _UNKNOWN
        known = zip(abouts, row.values(), strict=True)
        names = [(levels[a.column], v, a.fold) for a, v in known if a and a.column in levels and isinstance(v, str)]
        found.append(both(*(OneOf(level, frozenset({value}), fold) for level, value, fold in names)))
    return Read(either(*found), complete=False)


def _like(like: p.Like, levels: Levels) -> Read:
    about, pattern = subject(like.tested), _constant(like.pattern)
    if about is None or about.column not in levels or not isinstance(pattern, str) or like.escape not in (None, "\\"):
        return _UNKNOWN
    found = Read(Like(levels[about.column], pattern, like.caseless, about.fold), complete=True)
    return _negated(found) if like.negated else found
