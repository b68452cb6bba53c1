"""COPY … TO a CSV or TSV file, with the lines of `core/delimited.py`. The output round-trips: the NULL of a single
column is an empty line, as in PostgreSQL and DuckDB.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.core.delimited import Delimited
from pinakes.core.errors import ColumnExists, ColumnNotFound, listing
from pinakes.core.names import Part, match
from pinakes.engine.files.write_options import Csv
from pinakes.engine.files.write_rows import RowWriter, bytes_as_text


class CsvWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Csv) -> None:
        super().__init__(stream)
        escape = options.quote if options.escape is None else options.escape
        forced = options.force_quote and exact_names(options.force_quote, schema.names, "FORCE_QUOTE")
        self._form = Delimited(options.delimiter, options.quote, escape, options.null, forced, blank=True)
        if options.header:
            stream.write(self._form.header(schema.names))

    def write(self, batch: pa.RecordBatch) -> None:
        for lines in self._form.lines(bytes_as_text(batch)):
            self._stream.write(lines)
            self._stream.write(b"\n")


def exact_names(given: tuple[str, ...], names: list[str], option: str) -> tuple[str, ...]:
    """Returns the columns that an option names, as spelled in the result."""
    found: list[str] = []
    for name in given:
        exact = match(Part(name, quoted=False), names, "column")
        if exact is None:
            raise ColumnNotFound(f"column {name} of {option} does not exist; available: {listing(names)}")
        if exact in found:
            raise ColumnExists(f"column {name} is named twice in {option}")
        found.append(exact)
    return tuple(found)
