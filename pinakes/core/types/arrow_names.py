"""SQL names of Arrow types, for result schemas. Needs pyarrow only, so that describing a query loads little.

The spelling is Trino's (`array(bigint)`, `timestamp(6) with time zone`), which clients of such engines parse. A type
without an SQL name gets the name of a type that holds all its values: an unsigned integer that of the next wider signed
one, a dictionary that of its values. `core/types/sql.py` does the same for Iceberg's types.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.names import spell

PRECISION = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Digits after the second, by Arrow's time unit."""

_PLAIN: dict[pa.DataType, str] = {
    pa.null(): "unknown",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "integer",
    pa.uint32(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float16(): "real",
    pa.float32(): "real",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.date64(): "date",
    pa.string(): "varchar",
    pa.large_string(): "varchar",
    pa.string_view(): "varchar",
    pa.binary(): "varbinary",
    pa.large_binary(): "varbinary",
    pa.binary_view(): "varbinary",
    pa.uuid(): "uuid",
    pa.month_day_nano_interval(): "interval",
}


def sql_name_of_arrow(t: pa.DataType) -> str:
    """Returns the SQL name of a result column's type."""
    plain = _PLAIN.get(t)
    if plain is not None:
        return plain
    if is_.is_decimal(t):
        return f"decimal({t.precision},{t.scale})"
    if is_.is_timestamp(t):
        return f"timestamp({PRECISION[t.unit]})" + (" with time zone" if t.tz is not None else "")
    if is_.is_time(t):
        return f"time({PRECISION[t.unit]})"
    if is_.is_fixed_size_binary(t):
        return f"binary({t.byte_width})"
    if is_.is_duration(t):
        return "interval day to second"
    return _nested(t)


def is_any_list(t: pa.DataType) -> bool:
    """Returns whether the type is a list of any layout."""
    return bool(
        is_.is_list(t)
        or is_.is_large_list(t)
        or is_.is_fixed_size_list(t)
        or is_.is_list_view(t)
        or is_.is_large_list_view(t)
    )


def unwrap_type(t: pa.DataType) -> pa.DataType | None:
    """Returns the value type of an encoding (dictionary, run-end, extension); None for other types."""
    if is_.is_dictionary(t) or is_.is_run_end_encoded(t):
        return t.value_type
    return t.storage_type if isinstance(t, pa.BaseExtensionType) else None


def _nested(t: pa.DataType) -> str:
    if is_any_list(t):
        return f"array({sql_name_of_arrow(t.value_type)})"
    if is_.is_map(t):
        return f"map({sql_name_of_arrow(t.key_type)}, {sql_name_of_arrow(t.item_type)})"
    if is_.is_struct(t):
        return "row(" + ", ".join(f"{spell(f.name)} {sql_name_of_arrow(f.type)}" for f in t.fields) + ")"
    inner = unwrap_type(t)
    return str(t) if inner is None else sql_name_of_arrow(inner)
