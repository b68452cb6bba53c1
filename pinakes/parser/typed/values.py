"""What is known of an expression while a text is rewritten: its text, its type, and how large its values can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
"""Types within each other."""
MOST_ROWS = 2**44
"""No query on one machine reads more rows than this: sums of values that are small enough need no check."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression as it will be planned. `text` is None while it is as it was written."""

    text: str | None
    type: pa.DataType | None = None
    """None where it is not known."""
    bound: int | None = None
    """The largest magnitude of an integer or a decimal, rounded up; None where nothing is known."""
    wide: str | None = None
    """The same number before it is cast to its type: an integer as a DECIMAL, a decimal with 76 digits."""
    is_uuid: bool = False
    """Whether it is a text that shows a uuid."""
    stored: bool = False
    """Whether it is a column of a table, as it is."""
    long: bool = False
    """Whether it is put together of texts that may be long."""


class Output(NamedTuple):
    """A column of a query or a table, as far as it is known."""

    name: str | None
    type: pa.DataType | None
    bound: int | None = None
    """The largest magnitude of its values, as `Value.bound`."""
    is_uuid: bool = False
    stored: bool = False
    """Whether it is a column of a table."""


class Environment(Protocol):
    """What the text stands in."""

    def columns(self, parts: tuple[str, ...]) -> Mapping[str, pa.DataType] | None:
        """Those of a table; None if they are not known."""

    def uuids(self, parts: tuple[str, ...]) -> frozenset[str]:
        """The columns of a table that are uuids, which are shown as texts."""

    def largest(self, parts: tuple[str, ...], column: str) -> int | None:
        """The largest magnitude in a column of a table, if its metadata tells."""

    def parameter(self, name: str) -> pa.DataType | None:
        """The type of the value that a parameter has."""

    def bounded(self, function: str, type: pa.DataType) -> str:
        """The name of a function over values of a type that checks how large its result is (`bounds.py`)."""

    def result(self, expression: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
        """The type that DataFusion gives an expression over columns c0, c1, … of these types; None if it refuses."""


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


def is_nested(type: pa.DataType | None) -> bool:
    return type is not None and is_.is_nested(type)


def check_depth(type: pa.DataType | None) -> None:
    """Refuse types of too many types within each other: DataFusion compares them at each level, and all other users
    wait while it optimises a plan."""
    level, depth = [type], 0
    while level := [t.field(at).type for t in level if is_nested(t) for at in range(t.num_fields)]:  # type: ignore[union-attr]
        depth += 1
        if depth > MOST_NESTED:
            raise NotSupportedError(
                f"values with more than {MOST_NESTED} lists or structs in each other are not supported"
            )


def bound_of(type: pa.DataType | None) -> int | None:
    """How large a value of this type can be."""
    if is_integer(type):
        assert type is not None
        return int(2 ** (type.bit_width if is_.is_unsigned_integer(type) else type.bit_width - 1))
    if is_decimal(type):
        assert type is not None
        return int(10 ** max(type.precision - type.scale, 0))
    return None


def timestamp_type(type: pa.DataType) -> str:
    """The SQL name of a timestamp in microseconds, with or without a time zone as this one."""
    return "TIMESTAMP(6) WITH TIME ZONE" if type.tz is not None else "TIMESTAMP(6)"


def usual_nan(text: str, type: pa.DataType | None) -> Value:
    """A float whose NaN has no sign: DataFusion takes one with a sign for another value, less than all numbers."""
    name = "REAL" if type == pa.float32() else "DOUBLE"
    return Value(f"nanvl({text}, CAST('NaN' AS {name}))", type, wide=f"({text})")
