"""PEP 249's type objects and constructors.

The `type_code` in a cursor's description is the column's Arrow type; it equals the type object of its group:
`description[0][1] == pinakes.NUMBER`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.types.arrow_names import unwrap_type

Date, Time, Timestamp, Binary = date, time, datetime, bytes


def DateFromTicks(ticks: float) -> date:
    """Returns the local date of a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks).date()


def TimeFromTicks(ticks: float) -> time:
    return datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime:
    """Returns the timestamp with time zone of a number of seconds since the epoch."""
    return datetime.fromtimestamp(ticks, UTC)


class TypeObject:
    """Equal to every Arrow type of its group."""

    def __init__(self, name: str, *tests: Callable[[pa.DataType], bool]) -> None:
        self.name = name
        self._tests = tests

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, pa.DataType):
            return self is other
        plain = unwrap_type(other)
        return self == plain if plain is not None else any(test(other) for test in self._tests)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"pinakes.{self.name}"


STRING = TypeObject("STRING", is_.is_string, is_.is_large_string, is_.is_string_view)
BINARY = TypeObject("BINARY", is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary)
NUMBER = TypeObject("NUMBER", is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_boolean)
DATETIME = TypeObject("DATETIME", is_.is_temporal)
ROWID = TypeObject("ROWID")
"""Not used: no column is a row id."""
