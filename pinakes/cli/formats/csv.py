"""CSV: a header line, quotes only where necessary, NULL as an empty field and an empty string as ""."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.sinks import sink
from pinakes.core.output.row_formats import CSV, Delimited

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    return write_lines(result, out, CSV)


def write_lines(result: Result, out: TextIO, form: Delimited) -> int:
    put = sink(out)
    put(form.header(result.schema.names))
    count = 0
    for batch in result:
        for lines in form.lines(batch):
            put(lines)
            put(b"\n")
        count += batch.num_rows
    return count
