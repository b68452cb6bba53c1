"""JSON lines: one object per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.sinks import sink
from pinakes.core.output.row_formats import distinct_keys, json_objects

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    put = sink(out)
    keys = distinct_keys(result.schema.names)
    count = 0
    for batch in result:
        for lines in json_objects(batch, keys, "\n"):
            put(lines)
            put(b"\n")
        count += batch.num_rows
    return count
