"""The value of a column in files written before it was added: NULL, or its initial default (format version 3)."""

from __future__ import annotations

import pyarrow as pa
from datafusion import Expr, lit
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.types import NestedField

from pinakes.core.arrays.conform import conform_array


def default_of(field: NestedField, shown: pa.DataType) -> Expr:
    """Returns the value as a literal of the type in which queries see the column."""
    if field.initial_default is None:
        return lit(None).cast(shown)
    stored = pa.array([field.initial_default], schema_to_pyarrow(field.field_type))
    return lit(conform_array(stored, shown)[0])
