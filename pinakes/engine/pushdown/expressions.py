"""The only reader of DataFusion's expressions: turns them into predicates (`predicate.py`).

What the Python API of DataFusion shows of an expression is used nowhere else, which `tests/test_house.py` checks.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.engine.pushdown import predicate as p

if TYPE_CHECKING:
    from datafusion import Expr

DEEPEST = 100
"""The levels of an expression that are read; what is deeper is `Unknown`."""
MOST_ARGUMENTS = 100
"""The maximum number of arguments of a function that are read."""


def read(e: Expr, depth: int = 0) -> p.Predicate:
    """Returns an expression as a predicate. A chain of AND or OR has one level, whatever its length."""
    if depth > DEEPEST:
        return _unknown(e)
    match kind := e.variant_name():
        case "Column":
            column = e.to_variant()
            return p.ColumnRef(column.name(), relation=column.relation() or "")
        case "Literal":
            value = e.python_value()
            return p.Literal(value) if isinstance(value, pa.Scalar) else _unknown(e)
        case "BinaryExpr":
            return _binary(e, depth)
        case "InList":
            tested, *values = _operands(e, depth)
            return p.In(tested, tuple(values), e.to_variant().negated())
        case "Like":
            tested, pattern = _operands(e, depth)
            like, name = e.to_variant(), e.rex_call_operator()
            return p.Like(tested, pattern, like.negated(), name.endswith("ilike"), like.escape_char())
        case "Between":
            tested, low, high = _operands(e, depth)
            between = p.And((p.Comparison(">=", tested, low), p.Comparison("<=", tested, high)))
            return p.Not(between) if e.to_variant().negated() else between
        case "IsNull" | "IsNotNull" | "IsTrue" | "IsFalse" | "IsUnknown" | "IsNotTrue" | "IsNotFalse" | "IsNotUnknown":
            (tested,), negated = _operands(e, depth), kind.startswith("IsNot")
            return p.Is(tested, kind[5 if negated else 2 :].upper(), negated)  # type: ignore[arg-type]
        case "Not":
            (part,) = _operands(e, depth)
            return p.Not(part)
        case "Negative":
            return p.Call("-", _operands(e, depth))
        case "Cast" | "TryCast":
            written = str(e.canonical_name()).rpartition(" AS ")[2].removesuffix(")")
            (argument,) = _operands(e, depth)
            return p.Cast(argument, written, kind == "TryCast")
        case "ScalarFunction":
            return _call(e, depth)
        case "Case":
            return _case(e, depth)
    return _unknown(e)


def named(e: Expr) -> tuple[str, p.Predicate]:
    """Returns the output name of a SELECT item, without its table qualifier, and its expression."""
    match e.variant_name():
        case "Alias":
            return str(e.to_variant().alias()), read(e.rex_call_operands()[0])
        case "Column":
            return str(e.to_variant().name()), read(e)
    return str(e.schema_name()), read(e)


def named_aggregate(node: Any, e: Expr) -> tuple[str, p.Call | None]:
    """Returns the output name of an aggregate, and its call; None for one with DISTINCT, FILTER or ORDER BY, which are
    part of its name.
    """
    name, function, arguments = str(e.schema_name()), node.agg_func_name(e), node.aggregation_arguments(e)
    is_plain = len(arguments) == 1 and name == f"{function}({arguments[0].schema_name()})"
    return name, p.Call(function, (read(arguments[0]),)) if is_plain else None


def _unknown(e: Expr) -> p.Unknown:
    return p.Unknown(str(e.canonical_name()))


def _operands(e: Expr, depth: int) -> tuple[p.Predicate, ...]:
    return tuple([read(part, depth + 1) for part in e.rex_call_operands()])


def _binary(e: Expr, depth: int) -> p.Predicate:
    operator = e.rex_call_operator()
    if operator in ("AND", "OR"):
        parts = tuple([read(part, depth + 1) for part in _chain(e, operator)])
        return p.And(parts) if operator == "AND" else p.Or(parts)
    left, right = _operands(e, depth)
    if operator not in p.TURNED:
        return p.Call(operator, (left, right))
    if isinstance(left, p.Literal):
        return p.Comparison(p.TURNED[operator], right, left)
    return p.Comparison(operator, left, right)


def _chain(e: Expr, operator: str) -> list[Expr]:
    """Returns the operands of a chain of AND or OR, which may be longer than Python's recursion limit."""
    found, waiting = [], [e]
    while waiting:
        part = waiting.pop()
        if part.variant_name() == "BinaryExpr" and part.rex_call_operator() == operator:
            waiting += reversed(part.rex_call_operands())
        else:
            found.append(part)
    return found


def _call(e: Expr, depth: int) -> p.Predicate:
    function, written = e.rex_call_operator(), e.rex_call_operands()
    if len(written) > MOST_ARGUMENTS:
        return _unknown(e)
    arguments = tuple([read(part, depth + 1) for part in written])
    if not arguments or not isinstance(arguments[0], p.ColumnRef):
        return p.Call(function, arguments)
    if function == "nanvl" and _is_nan(arguments[1]):  # as a scan reads a column (`datafusion/parquet_scan.py`)
        return arguments[0]
    if function == "get_field":
        names = [a.value.as_py() for a in arguments[1:] if isinstance(a, p.Literal)]
        path = [name for name in names if isinstance(name, str)]
        if len(path) == len(arguments) - 1:
            return replace(arguments[0], path=(*arguments[0].path, *path))
    return p.Call(function, arguments)


def _is_nan(e: p.Predicate) -> bool:
    value = e.value if isinstance(e, p.Literal) else None
    return value is not None and pa.types.is_floating(value.type) and value.is_valid and isnan(value.as_py())


def _case(e: Expr, depth: int) -> p.Predicate:
    case = e.to_variant()
    arms = case.when_then_expr()
    if len(arms) != 1:
        return _unknown(e)
    tested, otherwise = (None if part is None else read(part, depth + 1) for part in (case.expr(), case.else_expr()))
    return p.Case(tested, read(arms[0][0], depth + 1), read(arms[0][1], depth + 1), otherwise)
