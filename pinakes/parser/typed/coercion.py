"""Common types of values, where DataFusion 55 chooses a type that loses information."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import TypeMismatch
from pinakes.core.names import text_literal
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.texts import with_seconds, without_zone
from pinakes.parser.typed.values import (
    BOOLEAN,
    DOUBLE,
    MICROS,
    REAL,
    TIME,
    Environment,
    Output,
    Value,
    is_date,
    is_decimal,
    is_float,
    is_integer,
    is_text,
    is_time,
    is_timestamp,
)

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer


def common_type(types: Sequence[pa.DataType | None], *, is_column: bool = False) -> pa.DataType | None:
    """Returns the type to cast to before values are compared, or before they become one column; None where
    DataFusion's choice is right.

    A decimal and a double are compared as doubles: DataFusion uses DECIMAL(30, 15). A column of decimals and REAL is
    REAL, as in PostgreSQL, where they are compared as doubles. A date and a timestamp are compared as timestamps in
    microseconds: DataFusion uses nanoseconds, which end in 2262. An integer beside a date is refused: DataFusion reads
    it as the number of days since 1970.
    """
    if any(map(is_date, types)) and any(map(is_integer, types)):
        raise TypeMismatch("an integer cannot be compared or combined with a date: add an explicit cast")
    if any(map(is_decimal, types)) and any(map(is_float, types)):
        return REAL if is_column and all(type == REAL for type in types if is_float(type)) else DOUBLE
    moments = [t for t in types if is_timestamp(t)]
    if moments and any(map(is_date, types)):
        return _moment(moments)
    if len({(t.unit, t.tz) for t in moments if t is not None}) > 1:
        return _moment(moments)
    if len({t.unit for t in types if t is not None and is_time(t)}) > 1:
        return TIME
    return None


def column_type(one: Output, other: Output) -> pa.DataType | None:
    """Returns the type to cast two columns to before they become one; None where DataFusion's choice is right."""
    if one.is_constant_text or other.is_constant_text:
        type = other.type if one.is_constant_text else one.type
        if is_integer(type) or is_float(type):
            return DOUBLE if is_float(type) else pa.int64()
        if type == BOOLEAN:
            return BOOLEAN
        if is_decimal(type):
            raise TypeMismatch("a text cannot be combined with a decimal: add an explicit cast")
    types = {type for type in (one.type, other.type) if type is not None and not pa.types.is_null(type)}
    if BOOLEAN in types and len(types) > 1:
        raise TypeMismatch("a boolean cannot be combined with another type: add an explicit cast")
    return common_type([one.type, other.type], is_column=True)


def _moment(types: Sequence[pa.DataType | None]) -> pa.DataType | None:
    """Returns the common timestamp type; None if one has nanoseconds, which are kept."""
    if any(t is not None and t.unit == "ns" for t in types):
        return None
    zone = next((t.tz for t in types if t is not None and t.tz is not None), None)
    return MICROS if zone is None else pa.timestamp("us", zone)


def common(environment: Environment, one: pa.DataType | None, other: pa.DataType | None) -> pa.DataType | None:
    """Returns DataFusion's common type of two types."""
    if one is None or other is None:
        return None
    if pa.types.is_null(one) or one == other:
        return other
    return one if pa.types.is_null(other) else environment.result("coalesce(c0, c1)", (one, other))


def joined_type(environment: Environment, types: Sequence[pa.DataType | None]) -> pa.DataType | None:
    """Returns the type of a column of values of all these types."""
    found: pa.DataType | None = pa.null()
    for type in types:
        found = common(environment, found, type)
    return found


def cast_to(writer: Writer, node: n.Node, value: Value, type: pa.DataType) -> str | None:
    """Returns the text of a value cast to one of the types above; unchanged if it needs no cast."""
    if value.type is None or value.type == type or pa.types.is_null(value.type):
        return value.text
    if is_text(value.type) and not isinstance(node, n.Text):
        return value.text
    if not is_text(value.type) and not _needs_cast(value.type, type):
        return value.text
    text = writer.text(node, value)
    if isinstance(node, n.Number) and type in (DOUBLE, REAL):
        return f"CAST('{node.text.replace('_', '')}' AS {sql_name(type)})"
    if isinstance(node, n.Text) and (is_date(type) or (is_timestamp(type) and type.tz is None)):
        text = text_literal(without_zone(node.value))
    if isinstance(node, n.Text) and is_timestamp(type) and type.tz is not None:
        text = text_literal(with_seconds(node.value))
    if type == TIME and isinstance(node, n.Text) and ":" not in node.value:
        text = text_literal(f"{node.value} ")  # otherwise it would be read as nanoseconds
    return cast_text(text, type)


def cast_text(text: str, type: pa.DataType) -> str:
    """Returns the text of a cast; DataFusion's own TIME has nanoseconds."""
    return f"arrow_cast({text}, 'Time64(Microsecond)')" if type == TIME else f"CAST({text} AS {sql_name(type)})"


def _needs_cast(own: pa.DataType, type: pa.DataType) -> bool:
    if type in (DOUBLE, REAL):
        return is_decimal(own) or own == REAL
    return is_date(own) or is_timestamp(own) or is_time(own)


def with_typed_moments(writer: Writer, values: Sequence[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Types a constant text that is combined with a date, time or timestamp: DataFusion reads it with nanoseconds."""
    moment = next((v.type for _, v in values if is_timestamp(v.type)), None)
    type = moment or next((v.type for _, v in values if is_date(v.type) or is_time(v.type)), None)
    if type is None or not any(isinstance(node, n.Text) for node, _ in values):
        return list(values)
    if is_timestamp(type) and type.unit == "ns":
        return list(values)
    if is_timestamp(type):
        type = MICROS if type.tz is None else pa.timestamp("us", type.tz)
    elif is_time(type):
        type = TIME
    return [
        (node, Value(cast_to(writer, node, value, type), type)) if isinstance(node, n.Text) else (node, value)
        for node, value in values
    ]


def _with_typed_texts(writer: Writer, values: Sequence[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Gives a constant text the type of the values that it is combined with, as in PostgreSQL."""
    found = with_typed_moments(writer, values)
    others = [v.type for node, v in found if not isinstance(node, n.Text) and not pa.types.is_null(v.type or MICROS)]
    numbers = [t for t in others if is_integer(t) or is_decimal(t) or is_float(t)]
    if not numbers or len(numbers) != len(others):
        return found
    type = DOUBLE if any(map(is_float, numbers)) else None
    return [(node, _number(node, type) if isinstance(node, n.Text) else value) for node, value in found]


def _number(node: n.Text, type: pa.DataType | None) -> Value:
    """Returns a text as a number; another text is an error during planning."""
    text = node.value.strip()
    literal = text_literal(text)
    if type is not None:
        return Value(f"CAST({literal} AS DOUBLE)", DOUBLE)
    digits = text.removeprefix("-")
    if re.fullmatch(r"\d{1,18}", digits):
        return Value(text, pa.int64(), int(digits))
    if re.fullmatch(r"\d{1,20}\.\d{1,18}", digits):
        whole, fraction = digits.split(".")
        return Value(text, pa.decimal128(len(whole) + len(fraction), len(fraction)), int(whole) + 1)
    return Value(f"CAST({literal} AS BIGINT)", pa.int64(), 2**63)


def unified(writer: Writer, values: Sequence[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]]:
    """Casts values that become one column."""
    return cast_alike(writer, _with_typed_texts(writer, values), is_column=True)


def cast_alike(
    writer: Writer, values: Sequence[tuple[n.Node, Value]], *, is_column: bool
) -> list[tuple[n.Node, Value]]:
    type = common_type([value.type for _, value in values], is_column=is_column)
    if type is None:
        return list(values)
    return [
        (
            node,
            Value(cast_to(writer, node, value, type), type if not pa.types.is_null(value.type or type) else value.type),
        )
        for node, value in values
    ]


def sql_name(type: pa.DataType) -> str:
    """Returns the SQL name of a type that a rule casts to."""
    if pa.types.is_decimal(type):
        return f"DECIMAL({type.precision}, {type.scale})"
    if pa.types.is_timestamp(type):
        return "TIMESTAMP(6)" if type.tz is None else "TIMESTAMP(6) WITH TIME ZONE"
    return _NAMES[str(type)]


_NAMES = {
    "double": "DOUBLE",
    "float": "REAL",
    "int64": "BIGINT",
    "int32": "INT",
    "date32[day]": "DATE",
    "string": "VARCHAR",
    "bool": "BOOLEAN",
}
