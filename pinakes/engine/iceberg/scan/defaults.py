"""What a column has in a file that was written before it was added: NULL, or its initial default (format version 3)."""

from __future__ import annotations

import pyarrow as pa
from datafusion import Expr, lit
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.types import NestedField

from pinakes.core.conform import conform_array


def default_of(field: NestedField, shown: pa.DataType) -> Expr:
    """The value as a constant of the type under which queries see the column."""
    if field.initial_default is None:
        return lit(None).cast(shown)
    stored = pa.array([field.initial_default], schema_to_pyarrow(field.field_type))
    return lit(conform_array(stored, shown)[0])
