"""Arrow's types by the names that Pinakes has for them in SQL."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

_PLAIN: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "real"),
    (pa.types.is_float64, "double"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (pa.types.is_interval, "interval"),
    (pa.types.is_duration, "interval"),
    (pa.types.is_null, "varchar"),
)


def sql_name(kind: pa.DataType) -> str:
    """The SQL name of a type; one without a name of its own goes by Arrow's."""
    for fits, name in _PLAIN:
        if fits(kind):
            return name
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "varchar"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return "varbinary"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp with time zone" if kind.tz else "timestamp"
    return _nested(kind)


def _nested(kind: pa.DataType) -> str:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array({sql_name(kind.value_type)})"
    if pa.types.is_map(kind):
        return f"map({sql_name(kind.key_type)}, {sql_name(kind.item_type)})"
    if pa.types.is_struct(kind):
        return f"row({', '.join(f'{field.name} {sql_name(field.type)}' for field in kind)})"
    return str(kind)
