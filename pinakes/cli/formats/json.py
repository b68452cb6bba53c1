"""JSON: each result is one array of objects, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.sinks import sink
from pinakes.core.output.row_formats import distinct_keys, json_objects

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    put = sink(out)
    keys = distinct_keys(result.schema.names)
    count, opening = 0, b"["
    for batch in result:
        for text in json_objects(batch, keys, ","):
            put(opening)
            put(text)
            opening = b","
        count += batch.num_rows
    put(b"]\n" if count else b"[]\n")
    return count
