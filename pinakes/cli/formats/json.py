"""JSON: each result is one array of objects, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.jsonl import objects

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    count = 0
    for text in objects(result):
        out.write(("," if count else "[") + text)
        count += 1
    out.write("]\n" if count else "[]\n")
    return count
