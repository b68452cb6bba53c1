"""Types for clients: digits and lengths parsed from the SQL type name, java.sql.Types codes, and sizes of columns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_SIZED = re.compile(r"(\w+)\((\d+)(?:,(\d+))?\)( with time zone)?\Z")


class Sizes(NamedTuple):
    """The sizes of a type; None where not applicable."""

    base: str
    """The name without its parameters."""
    precision: int | None = None
    """Digits of a number, in the given radix."""
    radix: int | None = None
    scale: int | None = None
    """Fractional digits."""
    seconds: int | None = None
    """Fractional digits of the seconds."""
    length: int | None = None
    """Bytes of a fixed-length binary."""


_PLAIN = {
    "tinyint": Sizes("tinyint", 8, 2, 0),
    "smallint": Sizes("smallint", 16, 2, 0),
    "integer": Sizes("integer", 32, 2, 0),
    "bigint": Sizes("bigint", 64, 2, 0),
    "real": Sizes("real", 24, 2),
    "double": Sizes("double", 53, 2),
    "date": Sizes("date", seconds=0),
}


@lru_cache(maxsize=1000)
def sizes_of(type_name: str) -> Sizes:
    """Returns the sizes of a SQL type: `decimal(18,2)`, `timestamp(6) with time zone`."""
    plain = _PLAIN.get(type_name)
    if plain is not None:
        return plain
    sized = _SIZED.match(type_name)
    if sized is None:
        return Sizes(type_name.split("(")[0])
    base, first, second, zone = sized.groups()
    match base:
        case "decimal":
            return Sizes(base, int(first), 10, int(second or 0))
        case "time" | "timestamp":
            return Sizes(base + (zone or ""), seconds=int(first))
        case _:
            return Sizes(base, length=int(first))


# --- JDBC --------------------------------------------------------------------------------------------------------


ANY_LENGTH = 2_147_483_647
"""The size of an unlimited string or binary: the largest that a driver can represent."""
_OTHER = 2000
"""JAVA_OBJECT: for types that JDBC lacks."""

CODES = {
    "boolean": 16,
    "tinyint": -6,
    "smallint": 5,
    "integer": 4,
    "bigint": -5,
    "real": 7,
    "double": 8,
    "decimal": 3,
    "varchar": 12,
    "varbinary": -3,
    "binary": -2,
    "date": 91,
    "time": 92,
    "timestamp": 93,
    "timestamp with time zone": 2014,
    "array": 2003,
    "map": _OTHER,
    "row": _OTHER,
    "uuid": _OTHER,
    "unknown": 0,
}
_DIGITS = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19}
_WIDTHS = {"date": 10, "time": 8, "timestamp": 19, "timestamp with time zone": 25}


def code_of(type_name: str) -> int:
    return CODES.get(sizes_of(type_name).base, _OTHER)


def size_of(type_name: str) -> int | None:
    """Returns the digits of a number, the characters of a string or of a printed time, or the bytes of a binary."""
    sizes = sizes_of(type_name)
    if sizes.base in _DIGITS:
        return _DIGITS[sizes.base]
    if sizes.base in _WIDTHS:
        return _WIDTHS[sizes.base] + (sizes.seconds + 1 if sizes.seconds else 0)
    if sizes.base in ("varchar", "varbinary"):
        return ANY_LENGTH
    return sizes.precision if sizes.precision is not None else sizes.length


def digits_of(type_name: str) -> int | None:
    """Returns the fractional digits of a number, or of the seconds."""
    sizes = sizes_of(type_name)
    return sizes.scale if sizes.scale is not None else sizes.seconds


def radix_of(type_name: str) -> int | None:
    sizes: Sizes = sizes_of(type_name)
    return 10 if sizes.base in _DIGITS else sizes.radix


def octets_of(type_name: str) -> int | None:
    return ANY_LENGTH if type_name == "varchar" else None
