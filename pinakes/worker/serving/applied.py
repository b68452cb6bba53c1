"""Conditions that the caller leaves to the worker: applied to the rows of a function, whatever it made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types as is_

from pinakes.worker.wire.filters import And, Comparison, Filter, In, IsNotNull, IsNull, Or


def columns_of(filters: Sequence[Filter]) -> set[str]:
    """The columns that conditions are about."""
    found: set[str] = set()
    for one in filters:
        found |= columns_of(one.children) if isinstance(one, And | Or) else {one.column}
    return found


def applied(batch: pa.RecordBatch, filters: Sequence[Filter]) -> pa.RecordBatch:
    """The rows that meet all of them."""
    return batch.filter(_expression(And(tuple(filters)), batch.schema))


def _expression(one: Filter, schema: pa.Schema) -> Any:
    import pyarrow.compute as pc  # only who needs it waits for it

    match one:
        case And(children) | Or(children):
            parts = [_expression(child, schema) for child in children]
            whole = parts[0]
            for part in parts[1:]:
                whole = whole & part if isinstance(one, And) else whole | part
            return whole
        case Comparison(column, op, value):
            return _compared(pc.field(column), op, value, is_.is_floating(schema.field(column).type))
        case In(column, values):
            return pc.field(column).isin(values)
        case IsNull(column):
            return pc.field(column).is_null()
        case IsNotNull(column):
            return pc.field(column).is_valid()


def _compared(column: Any, op: str, value: pa.Scalar, floating: bool) -> Any:
    """In SQL, NaN is the greatest of all numbers; to Arrow, it is neither more nor less than any."""
    import pyarrow.compute as pc

    compare = {"eq": "__eq__", "ne": "__ne__", "gt": "__gt__", "ge": "__ge__", "lt": "__lt__", "le": "__le__"}[op]
    found = getattr(column, compare)(pc.scalar(value))
    return found | column.is_nan() if floating and op in ("gt", "ge", "ne") else found
