"""Converts predicates on a worker's table to the filters that are pushed down to the worker.

A predicate that can't be converted is left out: DataFusion applies every predicate to the rows anyway. Predicates on
floating-point columns are left out, since a worker may order NaN differently from SQL, and a row that the worker omits
is lost.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types as is_

from pinakes.engine.pushdown import predicate as p
from pinakes.worker.wire.filters import And, Comparison, Filter, In, IsNotNull, IsNull, Or

_OPERATORS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
MOST_VALUES = 1000
"""The maximum length of an IN list; a longer one is not pushed down."""


def filters_of(predicate: p.Predicate, schema: pa.Schema) -> tuple[Filter, ...]:
    """Returns filters that hold for every row for which the predicate is true."""
    found = [_filter(part, schema) for part in p.conjuncts(predicate)]
    return tuple(one for one in found if one is not None)


def _filter(predicate: p.Predicate, schema: pa.Schema) -> Filter | None:
    match predicate:
        case p.And(parts) if found := filters_of(predicate, schema):
            return found[0] if len(found) == 1 else And(found)
        case p.Or(parts):
            every = [_filter(part, schema) for part in parts]
            known = tuple(one for one in every if one is not None)
            return Or(known) if known and len(known) == len(every) else None
        case p.Comparison(operator, p.ColumnRef() as tested, p.Literal(literal)) if operator in _OPERATORS:
            column = _column(tested, schema)
            value = None if column is None else _constant(literal, column.type)
            return None if column is None or value is None else Comparison(column.name, _OPERATORS[operator], value)
        case p.In(p.ColumnRef() as tested, values, False):
            return _in_list(_column(tested, schema), values)
        case p.Is(p.ColumnRef() as tested, "NULL", negated) if column := _column(tested, schema):
            return IsNotNull(column.name) if negated else IsNull(column.name)
        case p.ColumnRef():
            return _truth(_column(predicate, schema), True)
        case p.Not(p.ColumnRef() as tested):
            return _truth(_column(tested, schema), False)
    return None


def _truth(column: pa.Field | None, value: bool) -> Filter | None:
    is_boolean = column is not None and is_.is_boolean(column.type)
    return Comparison(column.name, "eq", pa.scalar(value)) if column is not None and is_boolean else None


def _in_list(column: pa.Field | None, listed: tuple[p.Predicate, ...]) -> Filter | None:
    if column is None or len(listed) > MOST_VALUES:
        return None
    values = [_constant(one.value, column.type) if isinstance(one, p.Literal) else None for one in listed]
    known = [value.as_py() for value in values if value is not None]
    return In(column.name, pa.array(known, column.type)) if len(known) == len(values) else None


def _column(ref: p.ColumnRef, schema: pa.Schema) -> pa.Field | None:
    """Returns the column if its type is ordered the same way by the worker and the engine."""
    at = -1 if ref.path else schema.get_field_index(ref.name)
    return schema.field(at) if at >= 0 and _is_plain(schema.field(at).type) else None


def _is_plain(t: pa.DataType) -> bool:
    return bool(
        is_.is_integer(t) or is_.is_boolean(t) or is_.is_string(t) or is_.is_large_string(t)
        or is_.is_date(t) or is_.is_timestamp(t) or is_.is_decimal(t)
    )  # fmt: skip


def _constant(value: pa.Scalar, kind: pa.DataType) -> pa.Scalar | None:
    """Returns a constant cast to the column's type; None if it is NULL or the cast changes its value."""
    if not value.is_valid:
        return None
    try:
        cast = value if value.type == kind else value.cast(kind)
        return cast if cast.cast(value.type).equals(value) else None
    except (pa.ArrowException, NotImplementedError):
        return None
