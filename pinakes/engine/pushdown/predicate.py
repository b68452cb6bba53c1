"""The predicates that a plan pushes to a scan, as values: what pruning, system tables, workers, MERGE and EXPLAIN read.

`expressions.py` reads them from DataFusion. Each node means exactly what the SQL expression means, with NULL. `Unknown`
stands for everything else: code that evaluates a predicate must assume that it may be true, false or NULL for any row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

import pyarrow as pa

TURNED = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
    "IS DISTINCT FROM": "IS DISTINCT FROM", "IS NOT DISTINCT FROM": "IS NOT DISTINCT FROM",
}  # fmt: skip
"""The operators of comparisons, each with the one that compares the operands in reverse order."""


@dataclass(frozen=True, slots=True)
class ColumnRef:
    name: str
    path: tuple[str, ...] = ()
    """The names of nested fields within it."""
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    value: pa.Scalar


@dataclass(frozen=True, slots=True)
class Comparison:
    """If one operand is a literal, it is the right one."""

    operator: str
    left: Predicate
    right: Predicate


@dataclass(frozen=True, slots=True)
class In:
    tested: Predicate
    values: tuple[Predicate, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    tested: Predicate
    pattern: Predicate
    negated: bool = False
    caseless: bool = False
    escape: str | None = None


@dataclass(frozen=True, slots=True)
class Is:
    """IS NULL, IS NOT TRUE and the like: never NULL itself."""

    tested: Predicate
    value: OneOf["NULL", "TRUE", "FALSE", "UNKNOWN"]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Predicate


@dataclass(frozen=True, slots=True)
class Call:
    """A function, or an operator that is not a comparison."""

    function: str
    arguments: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    argument: Predicate
    type_name: str
    """The target type as DataFusion prints it: `Timestamp(µs)`."""
    is_try: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A CASE with a single arm; others are `Unknown`."""

    tested: Predicate | None
    when: Predicate
    then: Predicate
    otherwise: Predicate | None


@dataclass(frozen=True, slots=True)
class Unknown:
    text: str


Predicate = ColumnRef | Literal | Comparison | In | Like | Is | And | Or | Not | Call | Cast | Case | Unknown

TRUE = And(())
FALSE = Or(())


def all_of(parts: Iterable[Predicate]) -> Predicate:
    found = tuple(parts)
    return found[0] if len(found) == 1 else And(found)


def any_of(parts: Iterable[Predicate]) -> Predicate:
    found = tuple(parts)
    return found[0] if len(found) == 1 else Or(found)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns the predicates that must all be true."""
    return predicate.parts if isinstance(predicate, And) else (predicate,)


def operands(predicate: Predicate) -> tuple[Predicate, ...]:
    """Returns the expressions directly within one."""
    match predicate:
        case ColumnRef() | Literal() | Unknown():
            return ()
        case Comparison(_, left, right):
            return (left, right)
        case In(tested, values):
            return (tested, *values)
        case Like(tested, pattern):
            return (tested, pattern)
        case Is(inner) | Not(inner) | Cast(inner):
            return (inner,)
        case And(parts) | Or(parts) | Call(_, parts):
            return parts
        case Case(tested, when, then, otherwise):
            return tuple(part for part in (tested, when, then, otherwise) if part is not None)


def columns_in(predicate: Predicate) -> Iterator[ColumnRef]:
    """Yields every column that an expression refers to, except for those within `Unknown`."""
    if isinstance(predicate, ColumnRef):
        yield predicate
    for operand in operands(predicate):
        yield from columns_in(operand)
