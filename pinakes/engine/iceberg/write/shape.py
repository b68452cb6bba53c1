"""Converts the rows of a query to the form of a table: columns in table order, values cast to its types by DataFusion.

Primitive types are cast in the plan, with SQL's rules; nested values are converted when they are written
(`core/arrays/conform.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types as is_
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField

from pinakes.core.errors import ConstraintViolation
from pinakes.core.names import quote
from pinakes.core.types.default_text import text_of
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.parser.typed.texts import MINUTES

_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
_PLAIN = {
    pa.bool_(): "Boolean",
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.float32(): "Float32",
    pa.float64(): "Float64",
    pa.date32(): "Date32",
    pa.string(): "Utf8",
    pa.binary(): "Binary",
}


def shaped(schema: Schema, sources: Mapping[str, tuple[str, pa.DataType]], time_zone: str) -> str:
    """Returns a SELECT list with one expression per column of the table: from `sources` (SQL text and its type), or
    else the column's default, or else NULL.
    """
    return ", ".join(f"{_expression(f, sources.get(f.name), time_zone)} AS {quote(f.name)}" for f in schema.fields)


def _expression(field: NestedField, source: tuple[str, pa.DataType] | None, time_zone: str) -> str:
    if source is not None:
        return cast(source[0], source[1], arrow_type_of(field.field_type, time_zone))
    if field.write_default is not None:
        return literal(field.write_default, arrow_type_of(field.field_type))
    if field.required:
        raise ConstraintViolation(f"column {quote(field.name)} is NOT NULL and is given no value")
    return "NULL"


def cast(expression: str, source: pa.DataType, target: pa.DataType) -> str:
    """Returns `expression` cast to the table's type, or unchanged if only the writer can convert it.

    A timestamp type has the session's time zone, so that text without a zone is read in it.
    """
    target = planned_type(target)
    name = type_name(target)
    if source == target or name is None or is_.is_nested(source):
        return expression
    from_text = is_.is_string(source) or is_.is_large_string(source) or is_.is_string_view(source)
    if is_.is_binary(target) and from_text:
        return hexadecimal(expression)
    if is_.is_timestamp(target) and from_text:
        expression = _with_seconds(expression)
    if is_.is_floating(target) and from_text:  # '-NaN' would differ from NaN
        return f"nanvl(arrow_cast({expression}, '{name}'), arrow_cast('NaN', '{name}'))"
    return f"arrow_cast({exact_number(expression, target)}, '{name}')"


def _with_seconds(text: str) -> str:
    return f"regexp_replace(trim({text}), '{MINUTES}', '\\1:00\\2')"


def hexadecimal(text: str) -> str:
    r"""Returns text as binary: \x4142 is two bytes, as in PostgreSQL; other text is encoded as UTF-8."""
    digits = f"arrow_cast(decode(substr({text}, 3), 'hex'), 'Binary')"
    return f"CASE WHEN starts_with({text}, '\\x') THEN {digits} ELSE arrow_cast({text}, 'Binary') END"


def planned_type(target: pa.DataType) -> pa.DataType:
    """Returns the type that a plan casts to. DataFusion converts large numbers to infinity in REAL; the writer raises
    an error.
    """
    return pa.float64() if is_.is_float32(target) else target


def misfits(expression: str, source: pa.DataType, target: pa.DataType) -> str | None:
    """Returns SQL for the value as text if `cast` fails for it, else NULL. Returns None if the cast never fails."""
    target = planned_type(target)
    name = type_name(target)
    if source == target or name is None or is_.is_nested(source):
        return None
    read = _with_seconds(expression) if is_.is_timestamp(target) and is_.is_string(source) else expression
    fails = f"{expression} IS NOT NULL AND arrow_try_cast({read}, '{name}') IS NULL"
    return f"CASE WHEN {fails} THEN arrow_cast({expression}, 'Utf8') END"


_NUMBER = re.compile(r"\(*\s*([+-]?[0-9]*\.?[0-9]+)\s*\)*\Z")


def exact_number(expression: str, target: pa.DataType) -> str:
    """Returns a single number as text if the column is DECIMAL: DataFusion would convert it to a double first."""
    found = _NUMBER.match(expression) if is_.is_decimal(target) else None
    return f"'{found.group(1)}'" if found else expression


def type_name(t: pa.DataType) -> str | None:
    """Returns the name of a type for arrow_cast; None if it cannot cast to it."""
    if is_.is_decimal128(t):
        return f"Decimal128({t.precision}, {t.scale})"
    if is_.is_timestamp(t):
        zone = f'Some("{t.tz}")' if t.tz else "None"
        return f"Timestamp({_UNITS[t.unit]}, {zone})"
    if is_.is_time64(t):
        return f"Time64({_UNITS[t.unit]})"
    return _PLAIN.get(t)


def literal(value: Any, t: pa.DataType) -> str:
    """Returns a constant of a primitive type as SQL."""
    name = type_name(t)
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"arrow_cast(decode('{value.hex()}', 'hex'), 'Binary')"
    escaped = text_of(value, t).replace("'", "''")
    return f"arrow_cast('{escaped}', '{name}')" if name else f"'{escaped}'"


def positions(columns: Sequence[str], arrow: pa.Schema) -> dict[str, tuple[str, pa.DataType]]:
    """Returns the columns of a derived table `src(c0, c1, …)`, by the column of the table that each fills."""
    return {name: (f'"src"."c{i}"', arrow.field(i).type) for i, name in enumerate(columns)}
