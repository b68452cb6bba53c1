"""CAST and typed constants: timestamps in microseconds, and numbers rounded as in PostgreSQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote, text_literal
from pinakes.parser.typed import ROUNDED, json
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.texts import TEXTS, cut, read_as, uuid_text, with_seconds, without_zone, written
from pinakes.parser.typed.values import (
    TIME,
    Value,
    bound_of,
    is_decimal,
    is_float,
    is_integer,
    is_nested,
    is_text,
    is_time,
    is_timestamp,
    usual_nan,
)

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer

_INTEGERS = frozenset(
    ["INT2", "INT4", "INT8"]
    + [name + sign for name in "TINYINT SMALLINT INT INTEGER BIGINT".split() for sign in ("", " UNSIGNED")]
)
_WIDE = frozenset({"HUGEINT", "INT128"})
"""Integers of up to 38 digits."""
_TIMESTAMPS = frozenset({"TIMESTAMP", "DATETIME"})
_ZONED = frozenset({"TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"})
_ORDER = ("s", "ms", "us", "ns")
_UNITS = {(): "us", (0,): "s", (3,): "ms", (6,): "us"}
_ARROW_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond"}
_NANOSECONDS = re.compile(r":\d+\.\d{7,}")
_DOUBLES = frozenset({"DOUBLE", "DOUBLE PRECISION", "FLOAT8"})
_FLOATS = _DOUBLES | {"REAL", "FLOAT", "FLOAT4"}
_BINARY = frozenset({"BYTEA", "BLOB", "BINARY", "VARBINARY"})
_HEX = re.compile(r"\\x(?:[0-9a-fA-F]{2})*")
_EXACT_DIGITS = 15


def type_text(type: n.TypeName) -> str | None:
    """Returns the text of a type for DataFusion; None if it is unchanged."""
    suffix = "[]" * type.name.count("[]")
    name = type.name.replace("[]", "")
    if name in _TIMESTAMPS and not type.numbers:
        return f"TIMESTAMP(6){suffix}"
    if name in _ZONED and not type.numbers:
        return f"TIMESTAMP(6) WITH TIME ZONE{suffix}"
    if name in _WIDE:
        return f"DECIMAL(38, 0){suffix}"
    return None


def typed_text(writer: Writer, node: n.TypedText, scope: Scope) -> Value:
    """Converts DATE '…', TIMESTAMP '…'. A timestamp written with nanoseconds keeps them."""
    if node.type.name in json.TYPES:
        return json.typed_text(node)
    if node.type.name == "UUID":
        return uuid_text(writer, n.Text(node.start, node.end, node.value), Value(None, pa.string()))
    name = type_text(node.type)
    if name is not None and _NANOSECONDS.search(node.value):
        name = name.replace("(6)", "(9)")
    value = writer.source[node.type.end : node.end].strip()
    if node.type.name in _TIMESTAMPS:
        value = text_literal(without_zone(node.value))
    elif node.type.name in _ZONED:
        value = text_literal(with_seconds(node.value))
    text = None if name is None else f"CAST({value} AS {name})"
    if node.type.name == "DATE" and without_zone(node.value) != node.value.strip():
        text = f"DATE {text_literal(without_zone(node.value))}"
    written = writer.source[node.start : node.end] if text is None else text
    type = writer.environment.result(written, ())
    if is_time(type) and type != TIME:
        return Value(f"arrow_cast({written}, 'Time64(Microsecond)')", TIME)
    return Value(text, type)


def binary(node: n.Node) -> str | None:
    r"""Returns a constant text that is cast to binary, as PostgreSQL reads it: \x4142 is two bytes. None for other
    nodes.
    """
    if not isinstance(node, n.Text) or not node.value.startswith("\\x"):
        return None
    if _HEX.fullmatch(node.value) is None:
        raise InvalidArgument(
            f"{text_literal(node.value)} can't be read as binary: write \\x and two hexadecimal digits for each byte"
        )
    return f"X'{node.value[2:]}'"


def cast(writer: Writer, node: n.Cast, scope: Scope) -> Value:
    operand = read_as(writer, node.operand, writer.value(node.operand, scope), node.type)
    name = type_text(node.type)
    if node.type.name == "UUID":
        return uuid_text(writer, node.operand, operand, strict=node.form != "TRY_CAST")
    if node.type.name in json.TYPES:
        return json.cast(writer, node, operand, scope)
    if node.type.name in TEXTS:
        return _text(writer, node, operand)
    if node.type.name in _WIDE and node.form == "TRY_CAST":
        raise writer.refuse(
            "TRY_CAST to HUGEINT is not supported, since numbers of 39 digits would be NULL: write DECIMAL(38, 0)"
        )
    if node.type.name in _INTEGERS | _WIDE and (is_decimal(operand.type) or is_float(operand.type)):
        number = rounded(writer, node.operand, operand) or writer.text(node.operand, operand)
        return _written(writer, node, number, name or writer.source[node.type.start : node.type.end])
    if node.type.name in _DOUBLES:
        operand = exact_text(writer, node.operand, operand)
    if name is not None or node.type.name in _TIMESTAMPS | _ZONED:
        unit = _UNITS.get(node.type.numbers, "us" if name is not None else "ns")
        if unit in ("s", "ms") and is_text(operand.type):  # DataFusion truncates a text to its precision
            zone = " WITH TIME ZONE" if node.type.name in _ZONED else ""
            form, target = "TRY_CAST" if node.form == "TRY_CAST" else "CAST", f"TIMESTAMP(6){zone}"
            type = writer.environment.result(f"CAST(NULL AS {target})", ())
            operand = Value(f"{form}({writer.text(node.operand, operand)} AS {target})", type)
        operand = in_unit(writer, node.operand, operand, unit)
    if node.type.name in _BINARY and (bytes := binary(node.operand)) is not None:
        return Value(bytes, pa.binary())
    pieces = [(node.operand, operand.text), (node.type, name)]
    target = name or writer.source[node.type.start : node.type.end]
    type = writer.environment.result(f"CAST(NULL AS {target})", ())
    if _cuts_within(operand.type, type):
        raise writer.refuse(
            "a cast of a list or a struct that makes integers of numbers with a fraction is not supported, since the "
            "fractions would be cut off instead of rounded: cast the elements or fields by themselves"
        )
    text = writer.composed(node, pieces)
    if is_time(type) and type != TIME:
        return Value(f"arrow_cast({text or writer.source[node.start : node.end]}, 'Time64(Microsecond)')", TIME)
    if node.type.name in _FLOATS and _may_be_signed_nan(node.operand, operand):
        return usual_nan(text or writer.source[node.start : node.end], type)
    if not isinstance(node.operand, n.Number | n.Text | n.Null) and may_lose(operand.type, type):
        text = f"coalesce({text or writer.source[node.start : node.end]}, NULL)"
    return Value(text, type, bound_of(type))


def _may_be_signed_nan(node: n.Node, operand: Value) -> bool:
    return node.value.strip().lower() == "-nan" if isinstance(node, n.Text) else is_text(operand.type)


def _cuts_within(own: pa.DataType | None, type: pa.DataType | None) -> bool:
    """Returns whether a cast of lists, structs or maps converts fractions to integers, which DataFusion truncates."""
    if own is None or type is None or own.num_fields != type.num_fields:
        return False
    if not own.num_fields:
        return is_integer(type) and (is_float(own) or _scale(own) > 0)
    return any(_cuts_within(own.field(i).type, type.field(i).type) for i in range(own.num_fields))


def exact_text(writer: Writer, node: n.Node, operand: Value) -> Value:
    """Casts a decimal with more digits than a double holds exactly by way of its text, to get the nearest double.
    DataFusion divides two doubles, and rounds two times.
    """
    if not is_decimal(operand.type) or operand.type is None or operand.type.precision <= _EXACT_DIGITS:
        return operand
    return Value(f"CAST({writer.text(node, operand)} AS VARCHAR)", pa.string())


def may_lose(own: pa.DataType | None, type: pa.DataType | None) -> bool:
    """Returns whether a cast may round, truncate or fail. For numbers and timestamps DataFusion moves the cast to
    the other side of a comparison, so such a cast is wrapped in a call.
    """
    if not (is_integer(type) or is_decimal(type) or is_timestamp(type)) or type is None:
        return False
    if own is None:
        return True
    if is_timestamp(own) and is_timestamp(type):
        return _ORDER.index(own.unit) > _ORDER.index(type.unit)
    if not (is_integer(own) or is_decimal(own)):
        return False
    return _scale(own) > _scale(type) or (bound_of(own) or 0) > (bound_of(type) or 0)


def _scale(type: pa.DataType) -> int:
    return int(type.scale) if is_decimal(type) else 0


def _text(writer: Writer, node: n.Cast, operand: Value) -> Value:
    if is_nested(operand.type):  # DataFusion writes nothing for NULL in a list, and no structs and maps
        name = writer.environment.bounded("nested_text", operand.type)
        return Value(cut(f"{quote(name)}({writer.text(node.operand, operand)})", node.type), pa.string())
    value = written(writer, node.operand, operand)
    if value is operand and not node.type.numbers:
        return Value(writer.composed(node, [(node.operand, operand.text)]), pa.string())
    text = f"CAST({writer.text(node.operand, value)} AS VARCHAR)" if value is operand else writer.text(node, value)
    return Value(cut(text, node.type), pa.string())


def _written(writer: Writer, node: n.Cast, operand: str, target: str) -> Value:
    form = "TRY_CAST" if node.form == "TRY_CAST" else "CAST"
    type = writer.environment.result(f"CAST(NULL AS {target})", ())
    return Value(f"coalesce({form}({operand} AS {target}), NULL)", type, bound_of(type))


def rounded(writer: Writer, node: n.Node, operand: Value) -> str | None:
    """Returns a rounded number for a cast to an integer: decimals away from zero, doubles to even. DataFusion
    truncates.
    """
    text = writer.text(node, operand)
    if is_decimal(operand.type):
        assert operand.type is not None
        return operand.text if operand.type.scale <= 0 else f"round({text}, 0)"
    if not is_float(operand.type):
        return operand.text
    return f'"{ROUNDED}"({text})'


def in_micros(writer: Writer, node: n.Node, operand: Value) -> Value:
    return in_unit(writer, node, operand, "us")


def in_unit(writer: Writer, node: n.Node, operand: Value, unit: str) -> Value:
    """Rounds a timestamp of a finer unit. DataFusion truncates it."""
    if not is_timestamp(operand.type) or operand.type is None:
        return operand
    finer = _ORDER.index(operand.type.unit) - _ORDER.index(unit)
    if finer <= 0:
        return operand
    number = f"CAST(arrow_cast({writer.text(node, operand)}, 'Int64') AS DECIMAL(20, 0))"
    zone = "None" if operand.type.tz is None else f'Some("{operand.type.tz}")'
    whole = f"CAST(round({number} / {1000**finer}, 0) AS BIGINT)"
    return Value(f"arrow_cast({whole}, 'Timestamp({_ARROW_UNITS[unit]}, {zone})')", pa.timestamp(unit, operand.type.tz))
