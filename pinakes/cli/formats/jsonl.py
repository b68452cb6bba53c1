"""JSON lines: one object per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.values import as_json, rows

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    count = 0
    for text in objects(result):
        out.write(text + "\n")
        count += 1
    return count


def objects(result: Result) -> Iterator[str]:
    """The rows, each as a JSON object."""
    keys = distinct(result.schema.names)
    for batch in result:
        for row in rows(batch):
            yield as_json(dict(zip(keys, row, strict=True)))


def distinct(names: Sequence[str]) -> list[str]:
    """Column names with a number after those that repeat: an object must not lose a column."""
    keys: list[str] = []
    for name in names:
        key, number = name, 0
        while key in keys:
            number += 1
            key = f"{name}_{number}"
        keys.append(key)
    return keys
