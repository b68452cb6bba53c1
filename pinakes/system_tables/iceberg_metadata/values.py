"""Readable values of Iceberg's metadata: decoded bounds, and values formatted as in query results."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa
from pyiceberg import types as ice
from pyiceberg.conversions import from_bytes

from pinakes.core.output.value_format import as_text, plain
from pinakes.core.types.iceberg_arrow import arrow_type_of

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

_BEFORE: dict[tuple[type[ice.IcebergType], int], ice.PrimitiveType] = {
    (ice.LongType, 4): ice.IntegerType(),
    (ice.DoubleType, 4): ice.FloatType(),
}
"""The type of a bound with this number of bytes, written before the column's type was widened."""

_AS_THEY_ARE = (
    ice.BooleanType,
    ice.DecimalType,
    ice.DoubleType,
    ice.IntegerType,
    ice.LongType,
    ice.StringType,
    ice.UUIDType,
)
"""Types whose Python values print the same as Arrow's, and much faster."""


def types_of(metadata: TableMetadata) -> dict[int, tuple[str, ice.IcebergType]]:
    """Returns name and type of each column by field id, including dropped columns; nested names have dots."""
    found: dict[int, tuple[str, ice.IcebergType]] = {}
    for schema in (*metadata.schemas, metadata.schema()):
        for number in schema.field_ids:
            found[number] = (schema.find_column_name(number) or str(number), schema.find_field(number).field_type)
    return found


def bound_of(kind: ice.IcebergType | None, data: bytes) -> object:
    """Returns the value of a bound, as `printed` and Arrow accept it; None if the bytes are invalid for the type."""
    if not isinstance(kind, ice.PrimitiveType):
        return None
    try:
        if isinstance(kind, ice.UUIDType):
            return str(UUID(bytes=data))
        return from_bytes(_BEFORE.get((type(kind), len(data)), kind), data)
    except Exception:  # noqa: BLE001 - any error of pyiceberg: the bytes are invalid for the type
        return None


def format_value(kind: ice.IcebergType, value: object) -> str | None:
    """Returns a value formatted as in a result."""
    if value is None:
        return None
    if isinstance(kind, _AS_THEY_ARE):
        return as_text(value)
    return as_text(plain(pa.array([value], arrow_type_of(kind)))[0])


def readable_bound(kind: ice.IcebergType | None, data: bytes) -> str:
    """Returns a bound as text; as hexadecimal bytes if it can't be decoded."""
    value = bound_of(kind, data)
    return f"0x{data.hex()}" if kind is None or value is None else format_value(kind, value) or ""
