"""The default of a column as text that DEFAULT parses to the same value."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from pinakes.core.names import text_literal

if TYPE_CHECKING:
    from pyiceberg.types import NestedField


def text_of(value: Any, t: pa.DataType) -> str:
    """Returns a constant of a plain type except binary as text that casts to the type."""
    if isinstance(value, Decimal):
        return format(value, "f")  # all digits: DataFusion does not read 0E-10
    if isinstance(value, bool | UUID):
        return str(value).lower()
    return str(pa.scalar(value, t).cast(pa.string()).as_py())


def default_text(field: NestedField) -> str | None:
    """Returns a literal for the default of a column; None if it has no default."""
    from pyiceberg.types import BooleanType, DecimalType, DoubleType, FloatType, IntegerType, LongType

    from pinakes.core.types.iceberg_arrow import arrow_type_of

    value = field.write_default
    if value is None:
        return None
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    text = text_of(value, arrow_type_of(field.field_type))
    bare = (BooleanType, IntegerType, LongType, FloatType, DoubleType, DecimalType)
    return text if isinstance(field.field_type, bare) else text_literal(text)
