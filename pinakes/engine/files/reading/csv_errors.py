"""Locates errors in a CSV file: reads its lines again, in Python, to find the one that Arrow's reader rejected."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pyarrow as pa

from pinakes.core.errors import DataCorrupt
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.csv_dialect import Dialect, without_comments
from pinakes.engine.files.reading.streams import text_stream

_SHOWN = 60
_COUNTED_BYTES = 4 * 1024 * 1024
csv.field_size_limit(2**31 - 1)


def find_ragged_line(file: File, dialect: Dialect, width: int) -> DataCorrupt | None:
    """Returns the error for the first record with too few or too many values."""
    for line, record in _numbered_records(file, dialect, skip_empty=width > 1):
        if any("\udc80" <= c <= "\udcff" for cell in record for c in cell):
            return DataCorrupt(
                f"{file}, line {line}: this is not {dialect.encoding.upper()}. Say how it is written, as in "
                f"read_csv('…', encoding => 'latin-1')"
            )
        if len(record) != width:
            count = "1 value" if len(record) == 1 else f"{len(record)} values"
            shown = _shorten(dialect.delim.join(record))
            return DataCorrupt(
                f"{file}, line {line} has {count} where the file has {width} columns: {shown!r}. "
                f"Correct the line, or leave such rows out with ignore_errors => true."
            )
    return None


def misfit_error(
    file: File, dialect: Dialect, width: int, row: int, column: str, text: str, target: pa.DataType, way_out: str
) -> DataCorrupt:
    """Returns the error for a value; `row` counts the records after the header from 0."""
    records = _numbered_records(file, dialect, skip_empty=width > 1)
    line = next((number for at, (number, _) in enumerate(records) if at == row + dialect.header), None)
    place = f", line {line}" if line is not None else ""
    return DataCorrupt(
        f"{file}{place}, column {column!r}: {_shorten(text)!r} is not a valid "
        f"{sql_name_of_arrow(target).upper()}. {way_out}"
    )


def find_unclosed_quote(file: File, dialect: Dialect) -> DataCorrupt | None:
    """Returns the error for a quote that is never closed: Arrow reads everything after it as one value.

    An odd number of quotes is a cheap hint; Python's reader then decides.
    """
    if not dialect.quote or not _odd_quotes(file, dialect):
        return None
    last = 0
    try:
        for line, _ in _numbered_records(file, dialect, skip_empty=True, strict=True):
            last = line
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            return DataCorrupt(f"{file}: a quote is opened after line {last} and never closed")
    return None


def _odd_quotes(file: File, dialect: Dialect) -> bool:
    count, quote = 0, dialect.quote.encode()
    with text_stream(file, dialect.compression) as stream:
        while chunk := stream.read(_COUNTED_BYTES):
            count += chunk.count(quote)
    return bool(count % 2)


class _Lines:
    """Lines with their ends; `start` is the number of the first line of the current record."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.start = 0
        self.fresh = True

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        if self.fresh:
            self.start, self.fresh = number, False
        return line


def _numbered_records(
    file: File, dialect: Dialect, *, skip_empty: bool, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yields each record, including the header, with the number of its first line."""
    with text_stream(file, dialect.compression) as stream:
        encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
        text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
        lines = _Lines(_numbered_lines(text, dialect))
        records = dialect.records(lines, strict=strict)
        for record in records:
            if record or not skip_empty:
                yield lines.start, record or [""]
            lines.fresh = True


def _numbered_lines(text: io.TextIOWrapper, dialect: Dialect) -> Iterator[tuple[int, str]]:
    number = 0

    def counted() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(text, 1):
            if number > dialect.skip:
                yield line

    for line in without_comments(counted(), dialect.signs):
        yield number, line


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
