"""Converts DataFusion's predicates on a worker's table to the filters that are pushed down to the worker.

A predicate that can't be converted is left out: DataFusion applies every predicate to the rows anyway. Predicates on
floating-point columns are left out, since a worker may order NaN differently from SQL, and a row that the worker omits
is lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from datafusion import Expr
from pyarrow import types as is_

from pinakes.worker.wire.filters import And, Comparison, Filter, In, IsNotNull, IsNull, Or

_OPERATORS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
MOST_VALUES = 1000
"""The maximum length of an IN list; a longer one is not pushed down."""


def filters_of(scans: list[list[Expr]], schema: pa.Schema) -> tuple[Filter, ...]:
    """Returns filters that hold for every row that any scan of the table needs."""
    told = [tuple(_all(conditions, schema)) for conditions in scans]
    if not told or not all(told):
        return ()
    return told[0] if len(told) == 1 else (Or(tuple(And(one) for one in told)),)


def _all(conditions: Iterable[Expr], schema: pa.Schema) -> Iterable[Filter]:
    return [found for found in (_filter(e, schema) for e in conditions) if found is not None]


def _filter(e: Expr, schema: pa.Schema) -> Filter | None:
    match e.variant_name():
        case "BinaryExpr":
            return _binary(e, schema)
        case "InList":
            return _in_list(e, schema)
        case "IsNull" | "IsNotNull":
            column = _column(e.rex_call_operands()[0], schema)
            kind = IsNull if e.variant_name() == "IsNull" else IsNotNull
            return kind(column) if column is not None else None
        case "Column" if (column := _column(e, schema)) is not None and is_.is_boolean(schema.field(column).type):
            return Comparison(column, "eq", pa.scalar(True))
        case "Not":
            inner = e.rex_call_operands()[0]
            column = _column(inner, schema)
            if column is not None and is_.is_boolean(schema.field(column).type):
                return Comparison(column, "eq", pa.scalar(False))
    return None


def _binary(e: Expr, schema: pa.Schema) -> Filter | None:
    operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
    if operator in ("AND", "OR"):
        one, other = _filter(left, schema), _filter(right, schema)
        if one is not None and other is not None:
            return And((one, other)) if operator == "AND" else Or((one, other))
        return (one or other) if operator == "AND" else None
    if operator not in _OPERATORS:
        return None
    if left.variant_name() == "Literal":
        left, right, operator = right, left, _TURNED[operator]
    column = _column(left, schema)
    value = _constant(right, schema.field(column).type) if column is not None else None
    return Comparison(column, _OPERATORS[operator], value) if column is not None and value is not None else None


def _in_list(e: Expr, schema: pa.Schema) -> Filter | None:
    node = e.to_variant()
    column = _column(node.expr(), schema)
    listed = node.list()
    if column is None or node.negated() or len(listed) > MOST_VALUES:
        return None
    kind = schema.field(column).type
    values = [_constant(one, kind) for one in listed]
    if any(value is None for value in values):
        return None
    return In(column, pa.array([value.as_py() for value in values if value is not None], kind))


def _column(e: Expr, schema: pa.Schema) -> str | None:
    """Returns the column's name if its type is ordered the same way by the worker and the engine."""
    if e.variant_name() != "Column":
        return None
    name = str(e.to_variant().name())
    at = schema.get_field_index(name)
    return name if at >= 0 and _is_plain(schema.field(at).type) else None


def _is_plain(t: pa.DataType) -> bool:
    return bool(
        is_.is_integer(t) or is_.is_boolean(t) or is_.is_string(t) or is_.is_large_string(t)
        or is_.is_date(t) or is_.is_timestamp(t) or is_.is_decimal(t)
    )  # fmt: skip


def _constant(e: Expr, kind: pa.DataType) -> pa.Scalar | None:
    """Returns a constant cast to the column's type; None if it is NULL or the cast changes its value."""
    if e.variant_name() != "Literal":
        return None
    value = e.python_value()
    if not isinstance(value, pa.Scalar):
        value = pa.scalar(value)
    if not value.is_valid:
        return None
    try:
        cast = value if value.type == kind else value.cast(kind)
        return cast if cast.cast(value.type).equals(value) else None
    except (pa.ArrowException, NotImplementedError):
        return None
