"""Dates, timestamps and intervals as in PostgreSQL: microseconds, and intervals that compare by their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import text_literal
from pinakes.core.values import time_zone
from pinakes.parser.typed import NANOSECONDS
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.coercion import cast_to, sql_name
from pinakes.parser.typed.values import (
    DATE,
    INT64,
    INTERVAL,
    MICROS,
    Value,
    is_date,
    is_decimal,
    is_duration,
    is_float,
    is_integer,
    is_interval,
    is_text,
    is_timestamp,
)

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer


class Length(NamedTuple):
    """A constant interval."""

    months: int
    days: int
    micros: int

    @property
    def total(self) -> int:
        """The length in microseconds by PostgreSQL's rules of comparison: a month has 30 days."""
        return ((self.months * 30) + self.days) * 86_400_000_000 + self.micros


_PART = re.compile(r"\s*([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)\s*([a-zA-Z]+)")
_CLOCK = re.compile(r"\s*([+-]?)(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d{1,6})?))?\s*$")
_UNITS: dict[str, tuple[int, int, int]] = {
    "millennium": (12000, 0, 0),
    "century": (1200, 0, 0),
    "decade": (120, 0, 0),
    "year": (12, 0, 0),
    "quarter": (3, 0, 0),
    "month": (1, 0, 0),
    "week": (0, 7, 0),
    "day": (0, 1, 0),
    "hour": (0, 0, 3_600_000_000),
    "minute": (0, 0, 60_000_000),
    "second": (0, 0, 1_000_000),
    "millisecond": (0, 0, 1000),
    "microsecond": (0, 0, 1),
}
_SPELLINGS = {
    **{name + ending: name for name in _UNITS for ending in ("", "s")},
    "centuries": "century",
    "millennia": "millennium",
    **dict.fromkeys(("y", "yr", "yrs"), "year"),
    **dict.fromkeys(("mon", "mons"), "month"),
    **dict.fromkeys(("w",), "week"),
    **dict.fromkeys(("d",), "day"),
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
    **dict.fromkeys(("m", "min", "mins"), "minute"),
    **dict.fromkeys(("s", "sec", "secs"), "second"),
    **dict.fromkeys(("ms", "msec", "msecs"), "millisecond"),
    **dict.fromkeys(("us", "usec", "usecs"), "microsecond"),
}


def length_of(node: n.Node) -> Length | None:
    """Returns the length of a constant interval; None if it is not constant, or has an unknown form."""
    while isinstance(node, n.Paren):
        node = node.inner
    if not isinstance(node, n.Interval) or node.value is None:
        return None
    return parsed(node.value, node.unit)


def parsed(text: str, unit: str | None) -> Length | None:
    if unit is not None and re.fullmatch(r"\s*[+-]?\d+(\.\d+)?\s*", text):
        text, unit = f"{text} {unit}", None
    if unit is not None:
        return None
    months = days = micros = 0
    rest = text
    while rest.strip():
        clock = _CLOCK.match(rest)
        if clock is not None:
            sign = -1 if clock[1] == "-" else 1
            seconds = int(clock[2]) * 3600 + int(clock[3]) * 60
            micros += sign * (seconds * 1_000_000 + _micros_of(clock[4] or "0"))
            break
        part = _PART.match(rest)
        name = None if part is None else _SPELLINGS.get(part[2].lower())
        if part is None or name is None:
            return None
        if "." in part[1]:
            if not _UNITS[name][2]:
                return None
            micros += round(Fraction(part[1]) * _UNITS[name][2])
        else:
            number = int(part[1])
            months, days, micros = (
                have + number * each for have, each in zip((months, days, micros), _UNITS[name], strict=True)
            )
        rest = rest[part.end() :]
    return Length(months, days, micros) if text.strip() else None


def _micros_of(seconds: str) -> int:
    whole, _, fraction = seconds.partition(".")
    return int(whole) * 1_000_000 + int((fraction or "0").ljust(6, "0")[:6])


def interval(writer: Writer, node: n.Interval, scope: Scope) -> Value:
    if node.operand is not None:
        return of_number(writer, node, node.operand, writer.value(node.operand, scope), node.unit or "")
    length = length_of(node)
    if (
        length is not None and node.value is not None and ":" in node.value
    ):  # DataFusion does not accept clock times here
        return Value(written(length), INTERVAL)
    return Value(None, INTERVAL)


def of_number(writer: Writer, node: n.Node, operand: n.Node, value: Value, unit: str) -> Value:
    """Returns an interval of so many units. Only seconds and their parts have fractions."""
    name = _SPELLINGS.get(unit)
    if name is None:
        raise writer.refuse(
            "an INTERVAL of an expression needs a unit: write INTERVAL (x) DAY, or x * INTERVAL '1 day'"
        )
    if value.type is not None and pa.types.is_null(value.type):
        return Value("CAST(NULL AS INTERVAL)", INTERVAL)
    is_fraction = is_decimal(value.type) or is_float(value.type)
    if not is_integer(value.type) and not (is_fraction and name in ("second", "millisecond")):
        raise writer.refuse(
            f"an INTERVAL of {name}s takes an integer: write CAST(… AS BIGINT), or x * INTERVAL '1 {name}'"
        )
    one = n.Interval(node.start, node.end, "1", name)
    product = n.Binary(node.start, node.end, "*", operand, one)
    found = _scaled(writer, product, value, Value(None, INTERVAL))
    assert found is not None
    return found


def written(length: Length) -> str:
    sign = "-" if length.micros < 0 else ""
    seconds, micros = divmod(abs(length.micros), 1_000_000)
    return f"INTERVAL '{length.months} months {length.days} days {sign}{seconds}.{micros:06d} seconds'"


def at_time_zone(writer: Writer, node: n.AtTimeZone, scope: Scope) -> Value:
    """Converts a timestamp with a time zone to the local time there, and one without to a moment. DataFusion
    converts both to a timestamp in nanoseconds with that time zone.
    """
    (operand, value), (zone, _) = writer.all_children(node, scope)
    type, text = value.type, writer.text(operand, value)
    if not isinstance(zone, n.Text):
        raise NotSupportedError("AT TIME ZONE takes a constant, such as 'Europe/Berlin'")
    try:
        name = time_zone(zone.value)
    except ValueError as error:
        raise InvalidArgument(f"{text_literal(zone.value)} is not {error}") from None
    if is_date(type) or is_text(type) or isinstance(operand, n.Text):
        type, text = pa.timestamp("us", "UTC"), f"CAST({text} AS TIMESTAMP(6) WITH TIME ZONE)"
    if type is None or not is_timestamp(type):
        return writer.composed_value(node, [(operand, value)], None)
    unit = "Nanosecond" if type.unit == "ns" else "Microsecond"
    there = f"arrow_cast({text}, 'Timestamp({unit}, Some(\"{name}\"))')"
    if type.tz is None:
        zoned = f"TIMESTAMP({9 if type.unit == 'ns' else 6}) WITH TIME ZONE"
        return Value(f"CAST({there} AS {zoned})", writer.environment.result(f"CAST(NULL AS {zoned})", ()))
    return Value(f"to_local_time({there})", pa.timestamp("ns") if type.unit == "ns" else MICROS)


# --- comparison --------------------------------------------------------------------------------------------------


def is_length(type: pa.DataType | None) -> bool:
    return is_interval(type) or is_duration(type)


def lengths(writer: Writer, values: Sequence[tuple[n.Node, Value]]) -> list[tuple[n.Node, Value]] | None:
    """Returns values to compare by their length, if intervals or durations are among them; otherwise None.

    DataFusion compares the fields of an interval one after the other: 40 days would be less than one month. The lengths
    are microseconds if all of them are whole numbers of those that fit into BIGINT, and nanoseconds otherwise.
    """
    if not any(is_length(value.type) for _, value in values):
        return None
    constants = [_constant(node) for node, _ in values]
    is_whole = all(
        value.type == pa.duration("us") if constant is None else abs(constant) < 2**63
        for (_, value), constant in zip(values, constants, strict=True)
        if not _is_null(value)
    )
    unit = _micros if is_whole else _nanoseconds
    found = [unit(writer, node, value, constant) for (node, value), constant in zip(values, constants, strict=True)]
    return None if None in found else [(node, v) for (node, _), v in zip(values, found, strict=True) if v is not None]


def _constant(node: n.Node) -> int | None:
    """Returns the microseconds of a constant interval or of a text."""
    length = parsed(node.value, None) if isinstance(node, n.Text) else length_of(node)
    if length is None and isinstance(node, n.Text):
        raise NotSupportedError(f"'{node.value}' is not an interval")
    return None if length is None else length.total


def _is_null(value: Value) -> bool:
    return value.type is not None and pa.types.is_null(value.type)


def _micros(writer: Writer, node: n.Node, value: Value, constant: int | None) -> Value | None:
    if constant is not None:
        return Value(str(constant), INT64)
    return value if _is_null(value) else Value(f"arrow_cast({writer.text(node, value)}, 'Int64')", INT64)


def _nanoseconds(writer: Writer, node: n.Node, value: Value, constant: int | None) -> Value | None:
    if constant is not None:
        return Value(f"CAST('{constant * 1000}' AS DECIMAL(38, 0))", _EXACT)
    text = writer.text(node, value)
    if is_interval(value.type):
        return Value(f'"{NANOSECONDS}"({text})', _EXACT)
    if is_duration(value.type):
        assert value.type is not None
        whole = f"CAST(arrow_cast({text}, 'Int64') AS DECIMAL(19, 0))"
        scale = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[value.type.unit]
        return Value(f"CAST({whole} * {scale} AS DECIMAL(38, 0))", _EXACT)
    return value if _is_null(value) else None


_EXACT = pa.decimal128(38, 0)


# --- arithmetic ----------------------------------------------------------------------------------------------------


def computed(writer: Writer, node: n.Binary, left: Value, right: Value) -> Value | None:
    """Computes sums and differences of dates, timestamps and intervals; None for other operands."""
    operands = (left.type, right.type)
    if not any(is_date(t) or is_timestamp(t) or is_length(t) for t in operands):
        return None
    if node.operator == "-" and is_date(left.type) and is_date(right.type):
        days = [f"arrow_cast({writer.text(n_, v)}, 'Int32')" for n_, v in ((node.left, left), (node.right, right))]
        return Value(f"({days[0]} - {days[1]})", pa.int32(), 2**24)
    if node.operator == "-" and all(is_date(t) or is_timestamp(t) for t in operands):
        return _difference(writer, node, left, right)
    if node.operator in "+-":
        moved = _moved(writer, node, left, right)
        if moved is not None:
            return moved
    if node.operator in "*/":
        scaled = _scaled(writer, node, left, right)
        if scaled is not None:
            return scaled
    values = ((node.left, left), (node.right, right))
    return writer.composed_value(node, values, writer.typed_by(f"c0 {node.operator} c1", (left, right)))


_DAY = 86_400_000_000


def _scaled(writer: Writer, node: n.Binary, left: Value, right: Value) -> Value | None:
    """Multiplies or divides an interval by a number, which DataFusion does not support; None for other operands.
    The fraction of a month becomes days, with 30 days per month, and the fraction of a day becomes seconds, both
    rounded to six digits as in PostgreSQL.
    """
    swapped = node.operator == "*" and is_length(right.type)
    span, length = (node.right, right) if swapped else (node.left, left)
    other, factor = (node.left, left) if swapped else (node.right, right)
    is_number = is_integer(factor.type) or is_decimal(factor.type) or is_float(factor.type)
    if not is_length(length.type) or not is_number:
        return None
    constant, number = length_of(span), _number_of(other)
    if constant is not None and number is not None:
        return Value(written(_times(writer, constant, number, node.operator)), INTERVAL)
    double = f"CAST({writer.text(other, factor)} AS DOUBLE)"
    if constant is None:
        if not is_duration(length.type):
            raise writer.refuse(
                "only constant intervals and differences of timestamps can be multiplied and divided: write "
                "INTERVAL '1 second' * (date_part('epoch', …) * 2)"
            )
        micros = f"arrow_cast(arrow_cast({writer.text(span, length)}, 'Duration(Microsecond)'), 'Int64')"
        text = f"CAST(round({micros} {node.operator} {double}) AS BIGINT)"
        return Value(f"arrow_cast({text}, 'Duration(Microsecond)')", pa.duration("us"))
    if node.operator == "*" and is_integer(factor.type):
        whole = f"CAST({writer.text(other, factor)} AS DECIMAL(20, 0))"
        needed = [f"{whole} * {part}" if part else "0" for part in constant]
        return _put_together(needed if any(constant) else [*needed[:-1], f"{whole} * 0"])  # of NULL it is NULL
    months, days, micros_ = (f"({part} {node.operator} {double})" for part in constant)
    seconds = f"({days} - trunc({days}))" if constant.days else ""
    whole_days = [f"trunc({days})"] if constant.days else []
    if constant.months:
        rest = _six_digits(f"({months} - trunc({months})) * 30")
        seconds = f"({seconds} + {rest} - trunc({rest}))" if seconds else f"({rest} - trunc({rest}))"
        whole_days.append(f"trunc({rest})")
    if seconds:
        seconds = _six_digits(f"{seconds} * 86400")
        micros_ = f"({micros_} + {seconds} * 1000000)"
    parts = (f"trunc({months})" if constant.months else "0", " + ".join(whole_days) or "0", f"round({micros_})")
    return _put_together([part if part == "0" else f"CAST({part} AS BIGINT)" for part in parts])


def _six_digits(text: str) -> str:
    """Rounds to microseconds, as PostgreSQL does for intermediate results."""
    return f"(round(({text}) * CAST('1e6' AS DOUBLE)) / CAST('1e6' AS DOUBLE))"


def _put_together(parts: Sequence[str]) -> Value:
    units = ("months", "days", "microseconds")
    texts = [f"CAST({part} AS VARCHAR) || ' {unit}'" for part, unit in zip(parts, units, strict=True) if part != "0"]
    text = " || ' ' || ".join(texts) if texts else "'0 days'"
    return Value(f"CAST({text} AS INTERVAL)", INTERVAL)


def _number_of(node: n.Node) -> Fraction | None:
    """Returns the value of a constant number."""
    if isinstance(node, n.Paren):
        return _number_of(node.inner)
    if isinstance(node, n.Unary) and node.operator == "-":
        number = _number_of(node.operand)
        return None if number is None else -number
    return Fraction(node.text.replace("_", "")) if isinstance(node, n.Number) else None


def _times(writer: Writer, length: Length, number: Fraction, operator: str) -> Length:
    if operator == "/" and not number:
        raise writer.refuse("an interval is divided by zero")
    factor = float(number)
    months, days, micros = (part / factor if operator == "/" else part * factor for part in length)
    left = round((months - int(months)) * 30, 6)
    seconds = round((days - int(days) + left - int(left)) * 86400, 6)
    carried = int(seconds / 86400)
    seconds -= carried * 86400
    return Length(int(months), int(days) + int(left) + carried, round(micros + seconds * 1_000_000))


def _difference(writer: Writer, node: n.Binary, left: Value, right: Value) -> Value:
    """Computes the difference of two timestamps, one of which may be a date."""
    type = next((t for t in (left.type, right.type) if is_timestamp(t) and t is not None and t.unit != "ns"), None)
    values = [(node.left, left), (node.right, right)]
    if type is not None:
        zone = next((t.tz for t in (left.type, right.type) if is_timestamp(t) and t is not None and t.tz), None)
        both = MICROS if zone is None else pa.timestamp("us", zone)
        values = [(n_, Value(cast_to(writer, n_, v, both), both)) for n_, v in values]
    return writer.composed_value(node, values, writer.typed_by("c0 - c1", [v for _, v in values]))


def _moved(writer: Writer, node: n.Binary, left: Value, right: Value) -> Value | None:
    """Casts a date to a timestamp if an interval with a time part is added: DataFusion drops the hours."""
    for one, other, date in ((left, node.right, node.left), (right, node.left, node.right)):
        value = right if one is left else left
        if not is_date(one.type) or not is_length(value.type):
            continue
        length = length_of(other)
        if length is not None and length.micros == 0:
            return writer.composed_value(node, ((node.left, left), (node.right, right)), DATE)
        moment = Value(f"CAST({writer.text(date, one)} AS {sql_name(MICROS)})", MICROS)
        values = ((node.left, moment if one is left else left), (node.right, right if one is left else moment))
        return writer.composed_value(node, values, MICROS)
    for one, value in ((left, right), (right, left)):
        if is_timestamp(one.type) and is_length(value.type):
            return writer.composed_value(node, ((node.left, left), (node.right, right)), one.type)
    return None
