"""Metrics modes of columns: table properties `write.metadata.metrics.*`.

    none         only the size
    counts       counts of values, NULLs and NaNs
    truncate(n)  also the minimum and maximum; of strings and binary values, the first n characters or bytes
    full         also the minimum and maximum, not truncated

The default is truncate(16) for the first 100 columns and none for later ones. A column of the sort order has bounds
unless its own property overrides it, since sorting serves pruning by bounds.
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
    """The length of a string or binary bound; not truncated if None."""


NONE, COUNTS, FULL = Mode(False, False), Mode(True, False), Mode(True, True)
_NAMED = {"none": NONE, "counts": COUNTS, "full": FULL}
_USUAL = Mode(True, True, 16)


def modes_of(names: Sequence[str], sorted_by: frozenset[str], properties: Mapping[str, str]) -> list[Mode]:
    """Returns the mode of each column; `names` are the dotted names of all stored columns."""
    given = _mode(properties, DEFAULT) if DEFAULT in properties else None
    most = _most(properties)
    modes = [given or (_USUAL if place < most else NONE) for place in range(len(names))]
    modes = [m if m.bounds or n not in sorted_by else _USUAL for m, n in zip(modes, names, strict=True)]
    return [
        _mode(properties, f"{COLUMN}{name}") if f"{COLUMN}{name}" in properties else mode
        for name, mode in zip(names, modes, strict=True)
    ]


def _mode(properties: Mapping[str, str], key: str) -> Mode:
    value = properties[key].strip().lower()
    if value in _NAMED:
        return _NAMED[value]
    shortened = _TRUNCATE.fullmatch(value)
    if shortened is None:
        raise InvalidArgument(
            f"table property {key} is {properties[key]!r}; available: none, counts, full, "
            "truncate(16) or another length"
        )
    return Mode(True, True, int(shortened.group(1)))


def _most(properties: Mapping[str, str]) -> int:
    text = properties.get(MOST_COLUMNS, "100")
    if not text.isdecimal():
        raise InvalidArgument(f"table property {MOST_COLUMNS} is {text!r}; it must be a whole number")
    return int(text)
