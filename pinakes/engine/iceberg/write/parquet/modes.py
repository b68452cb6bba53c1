"""How much the metadata tells of each column: table properties `write.metadata.metrics.*`.

    none         its size alone
    counts       how many values, NULLs and NaNs
    truncate(n)  also the least and the greatest value, of texts and bytes the first n
    full         these as they are

Without a property it is truncate(16) for the first 100 columns and none for those after them. A column that the table
is sorted by has bounds unless a property of its own says otherwise: they are what sorting is for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pinakes.core.errors import InvalidArgument

DEFAULT = "write.metadata.metrics.default"
COLUMN = "write.metadata.metrics.column."
MOST_COLUMNS = "write.metadata.metrics.max-inferred-column-defaults"
_TRUNCATE = re.compile(r"truncate\(([1-9][0-9]*)\)")


@dataclass(frozen=True, slots=True)
class Mode:
    counts: bool
    bounds: bool
    length: int | None = None
    """What is left of a text or of bytes in a bound; all of it when None."""


NONE, COUNTS, FULL = Mode(False, False), Mode(True, False), Mode(True, True)
_NAMED = {"none": NONE, "counts": COUNTS, "full": FULL}
_USUAL = Mode(True, True, 16)


def modes_of(names: Sequence[str], sorted_by: frozenset[str], properties: Mapping[str, str]) -> list[Mode]:
    """The mode of each column, by its place among `names`: dotted names of all that a file stores."""
    given = _mode(properties, DEFAULT) if DEFAULT in properties else None
    most = _most(properties)
    modes = [given or (_USUAL if place < most else NONE) for place in range(len(names))]
    modes = [m if m.bounds or n not in sorted_by else _USUAL for m, n in zip(modes, names, strict=True)]
    return [
        _mode(properties, f"{COLUMN}{name}") if f"{COLUMN}{name}" in properties else mode
        for name, mode in zip(names, modes, strict=True)
    ]


def _mode(properties: Mapping[str, str], key: str) -> Mode:
    asked = properties[key].strip().lower()
    if asked in _NAMED:
        return _NAMED[asked]
    shortened = _TRUNCATE.fullmatch(asked)
    if shortened is None:
        raise InvalidArgument(
            f"table property {key} is {properties[key]!r}; there is: none, counts, truncate(16) or another length, full"
        )
    return Mode(True, True, int(shortened.group(1)))


def _most(properties: Mapping[str, str]) -> int:
    text = properties.get(MOST_COLUMNS, "100")
    if not text.isdecimal():
        raise InvalidArgument(f"table property {MOST_COLUMNS} is {text!r}; it must be a whole number")
    return int(text)
