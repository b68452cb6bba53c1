"""The digits and lengths of types, for clients, parsed from the SQL type name."""

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
