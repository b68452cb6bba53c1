"""What clients ask of a type beside its name: its digits and its length, read from the name as SQL spells it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_SIZED = re.compile(r"(\w+)\((\d+)(?:,(\d+))?\)( with time zone)?\Z")


class Sizes(NamedTuple):
    """Each None where it says nothing of the type."""

    base: str
    """The name without its numbers."""
    precision: int | None = None
    """Digits of a number, in the given radix."""
    radix: int | None = None
    scale: int | None = None
    """Digits after the point."""
    seconds: int | None = None
    """Digits after the second."""
    length: int | None = None
    """Bytes of a binary of fixed length."""


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
    """Of a type as SQL spells it: `decimal(18,2)`, `timestamp(6) with time zone`."""
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
