"""Applies predicates that the caller leaves to the worker to the rows of a function, whether or not the function used
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types as is_

from pinakes.worker.wire.filters import And, Comparison, Filter, In, IsNotNull, IsNull, Or


def columns_of(filters: Sequence[Filter]) -> set[str]:
    """Returns the columns that predicates refer to."""
    found: set[str] = set()
    for one in filters:
        found |= columns_of(one.children) if isinstance(one, And | Or) else {one.column}
    return found


def applied(batch: pa.RecordBatch, filters: Sequence[Filter]) -> pa.RecordBatch:
    """Returns the rows that satisfy all predicates."""
    return batch.filter(_expression(And(tuple(filters)), batch.schema))


def _expression(one: Filter, schema: pa.Schema) -> Any:
    import pyarrow.compute as pc  # imported on demand, since it is slow to import

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
    """Compares as SQL does: NaN is greater than all numbers, while in Arrow it is unordered."""
    import pyarrow.compute as pc

    compare = {"eq": "__eq__", "ne": "__ne__", "gt": "__gt__", "ge": "__ge__", "lt": "__lt__", "le": "__le__"}[op]
    found = getattr(column, compare)(pc.scalar(value))
    return found | column.is_nan() if floating and op in ("gt", "ge", "ne") else found
