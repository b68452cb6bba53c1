"""The values of a rewrite: the text, type and bound of each expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.errors import NotSupportedError

MOST_DIGITS = 38
INT64 = pa.int64()
REAL = pa.float32()
DOUBLE = pa.float64()
BOOLEAN = pa.bool_()
MICROS = pa.timestamp("us")
DATE = pa.date32()
TIME = pa.time64("us")
INTERVAL = pa.month_day_nano_interval()

MOST_NESTED = 50
"""Maximum depth of nested types."""
MOST_FIELDS = 5_000
"""Fields of a struct, with those of structs in it."""
MOST_ROWS = 2**44
"""More rows than a query on one machine reads: sums of small values need no check."""


class Value(NamedTuple):
    """An expression to plan. `text` is None while it is unchanged."""

    text: str | None
    type: pa.DataType | None = None
    """None if it is unknown."""
    bound: int | None = None
    """The largest magnitude of an integer or a decimal, rounded up; None if it is unknown."""
    wide: str | None = None
    """The number before the cast to its type: an integer as a DECIMAL, a decimal with 76 digits."""
    is_uuid: bool = False
    """Whether it is the text of a uuid."""
    stored: bool = False
    """Whether it is an unchanged column of a table."""
    long: bool = False
    """Whether it is concatenated from texts that may be long."""


class Output(NamedTuple):
    """A column of a query or a table."""

    name: str | None
    type: pa.DataType | None
    bound: int | None = None
    """The largest magnitude of its values, as `Value.bound`."""
    is_uuid: bool = False
    stored: bool = False
    """Whether it is a column of a table."""
    is_json: bool = False
    """Whether it is known to be JSON (`json.py`)."""
    is_constant_text: bool = False
    """Whether it is a constant text, which takes the type of the columns that it is combined with."""
    written: str | None = None
    """The text in place of its name: that of a parameter of a lambda."""


class Environment(Protocol):
    """The context of the text."""

    def columns(self, parts: tuple[str, ...]) -> Mapping[str, pa.DataType] | None:
        """Returns the columns of a table; None if they are unknown."""

    def uuids(self, parts: tuple[str, ...]) -> frozenset[str]:
        """Returns the uuid columns of a table, which are texts in queries."""

    def largest(self, parts: tuple[str, ...], column: str) -> int | None:
        """Returns the largest magnitude in a column of a table, if its metadata has it."""

    def parameter(self, name: str) -> pa.DataType | None:
        """Returns the type of a parameter's value."""

    def bounded(self, function: str, type: pa.DataType) -> str:
        """Returns the name of a function that checks the size of its result for a type (`bounds.py`)."""

    def result(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        """Returns DataFusion's type of an expression over columns c0, c1, … of these types; None if it is invalid."""


def is_integer(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_integer(type)


def is_decimal(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_decimal(type)


def is_float(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_floating(type)


def is_text(type: pa.DataType | None) -> bool:
    return type is not None and (is_.is_string(type) or is_.is_large_string(type) or is_.is_string_view(type))


def is_timestamp(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_timestamp(type)


def is_date(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_date(type)


def is_time(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_time(type)


def is_interval(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_interval(type)


def is_duration(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_duration(type)


def is_struct(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_struct(type)


def is_binary(type: pa.DataType | None) -> bool:
    return type is not None and (is_.is_binary(type) or is_.is_large_binary(type) or is_.is_binary_view(type))


def is_nested(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_nested(type)


def check_depth(type: pa.DataType | None) -> None:
    """Refuses deeply nested types, and those of many fields: DataFusion compares them at each level, which blocks all
    other users while it optimises a plan. A struct that has another one twice doubles its fields.
    """
    level, depth, fields = [type], 0, 0
    while level := [t.field(at).type for t in level if is_nested(t) for at in range(t.num_fields)]:  # type: ignore[union-attr]
        depth += 1
        fields += len(level)
        if fields > MOST_FIELDS:
            raise NotSupportedError(f"values with more than {MOST_FIELDS:,} fields are not supported")
        if depth > MOST_NESTED:
            raise NotSupportedError(
                f"values with more than {MOST_NESTED} lists or structs in each other are not supported"
            )


_INTEGER_BOUNDS = {
    **{type.id: 1 << (type.bit_width - 1) for type in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{type.id: 1 << type.bit_width for type in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
}


def bound_of(type: pa.DataType | None) -> int | None:
    """Returns the maximum magnitude of a value of this type."""
    if type is None:
        return None
    if is_.is_decimal(type):
        return int(10 ** max(type.precision - type.scale, 0))
    return _INTEGER_BOUNDS.get(type.id)


def timestamp_type(type: pa.DataType) -> str:
    """Returns the SQL name of a timestamp in microseconds, with or without a time zone like this one."""
    return "TIMESTAMP(6) WITH TIME ZONE" if type.tz is not None else "TIMESTAMP(6)"


def usual_nan(text: str, type: pa.DataType | None) -> Value:
    """Returns a float whose NaN has no sign: DataFusion treats one with a sign as a different value, less than all
    numbers.
    """
    name = "REAL" if type == pa.float32() else "DOUBLE"
    return Value(f"nanvl({text}, CAST('NaN' AS {name}))", type, wide=f"({text})")
