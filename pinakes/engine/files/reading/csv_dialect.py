"""The dialect of a CSV file: its delimiter, header, columns and comments, detected from its first lines.

The first record decides: of the delimiters in it, the one for which most other records have the same width. The record
is a header if none of its values is a number, date or boolean; if names are given, if it equals them. Comments are
lines that start with the comment character outside of quotes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from pinakes.core.errors import DataCorrupt
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.options import CsvOptions
from pinakes.engine.files.reading.streams import text_stream
from pinakes.engine.files.reading.text_conversion import Forms, guess_type

_DELIMITERS = (",", "\t", ";", "|")
_SNIFFED_BYTES = 256 * 1024
_SNIFFED_RECORDS = 200
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class Dialect:
    delim: str
    quote: str
    escape: str
    header: bool
    skip: int
    comment: str | None
    encoding: str
    compression: str

    @property
    def signs(self) -> Signs:
        return Signs(self.comment, self.quote, self.escape, self.delim)

    def records(self, lines: Iterator[str], *, strict: bool = False) -> Iterator[list[str]]:
        """Parses lines, with their line ends, by Python's csv reader."""
        return csv.reader(
            lines,
            delimiter=self.delim,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            doublequote=self.escape == self.quote,
            escapechar=self.escape if self.escape != self.quote and self.escape else None,
            strict=strict,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of one file, and the number of empty lines before its first record."""

    names: tuple[str, ...]
    blank: int
    first: tuple[str, ...] = ()
    """The first record, whether or not it is a header."""


def dialect_of(file: File, options: CsvOptions, names: Sequence[str] | None) -> tuple[Dialect, Layout | None]:
    """Detects the dialect and columns of a file; the layout is None if it has no record."""
    lines = _first_lines(file, options)
    escape = options.quote if options.escape is None else options.escape

    def written(delim: str, header: bool = True) -> Dialect:
        return Dialect(
            delim, options.quote, escape, header, options.skip, options.comment, options.encoding, options.compression
        )

    fallback = "\t" if {".tsv", ".tab"} & {s.lower() for s in file.suffixes} else ","
    delim = options.delim or _delimiter(lines, written, fallback)
    records = [r for r in islice(written(delim).records(iter(lines)), _SNIFFED_RECORDS) if r]
    if not records:
        return written(delim, bool(options.header)), _all_null(lines, options, names)
    header = _has_header(records[0], names) if options.header is None else options.header
    found = tuple(_unique_names(records[0]) if header else (f"column{i}" for i in range(len(records[0]))))
    blank = next(i for i, line in enumerate(lines) if line.strip("\r\n"))
    return written(delim, header), Layout(found, blank if len(found) > 1 or header else 0, tuple(records[0]))


def _all_null(lines: list[str], options: CsvOptions, names: Sequence[str] | None) -> Layout | None:
    """Returns the layout of a file of empty lines, which are rows if there is exactly one known column."""
    return Layout(("column0",), 0) if lines and not options.header and names is not None and len(names) == 1 else None


def _first_lines(file: File, options: CsvOptions) -> list[str]:
    """Returns the first complete lines of a file; raises DataCorrupt if it is not text."""
    with text_stream(file, options.compression) as stream:
        start = stream.read(_SNIFFED_BYTES + 1)
    bom = next((name for mark, name in _BOMS.items() if start.startswith(mark)), None)
    if bom and options.encoding == "utf-8":
        raise DataCorrupt(f"{file} is written in {bom.upper()}: read it with encoding => '{bom}'")
    try:
        text = start.decode("utf-8-sig" if options.encoding == "utf-8" else options.encoding, errors="replace")
    except UnicodeError as error:
        raise DataCorrupt(f"{file} is not written in {options.encoding}: {error}") from error
    if "\0" in text:
        raise DataCorrupt(f"{file} is not a CSV file: it contains bytes that are not text")
    lines = io.StringIO(text, newline="").readlines()
    if len(start) > _SNIFFED_BYTES and len(lines) > 1:
        lines.pop()
    escape = options.quote if options.escape is None else options.escape
    signs = Signs(options.comment, options.quote, escape, options.delim or "".join(_DELIMITERS))
    return list(without_comments(iter(lines[options.skip :]), signs))


def _delimiter(lines: list[str], written: Callable[[str], Dialect], fallback: str) -> str:
    best, most = fallback, 0.0
    for delim in _DELIMITERS:
        records = [r for r in islice(written(delim).records(iter(lines)), _SNIFFED_RECORDS) if r]
        width = len(records[0]) if records else 1
        same = sum(len(r) == width for r in records) / max(len(records), 1)
        if width > 1 and same > most:
            best, most = delim, same
    return best


def _has_header(first: list[str], names: Sequence[str] | None) -> bool:
    if names is not None:
        return [n.strip().casefold() for n in first] == [n.casefold() for n in names]
    if not any(cell.strip() for cell in first):
        return False
    return all(guess_type(pa.chunked_array([[cell]]), Forms()) == pa.string() for cell in first)


def _unique_names(cells: list[str]) -> Iterator[str]:
    """Yields unique, non-empty names."""
    seen: set[str] = set()
    for i, cell in enumerate(cells):
        name = plain = cell.strip() or f"column{i}"
        number = 0
        while name in seen:
            number += 1
            name = f"{plain}_{number}"
        seen.add(name)
        yield name


# --- comments ----------------------------------------------------------------------------------------------------


def without_comments(lines: Iterator[str], signs: Signs) -> Iterator[str]:
    if signs.comment is None:
        yield from lines
        return
    quoted = False
    for line in lines:
        if not quoted and line.lstrip(" \t").startswith(signs.comment):
            continue
        quoted = signs.open_after(line, quoted)
        yield line


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters that determine where quoted values begin and end; `delims` are the possible delimiters."""

    comment: str | None
    quote: str
    escape: str
    delims: str

    def open_after(self, line: str, quoted: bool) -> bool:
        """Returns whether the end of a line is within quotes. Quotes begin only at the start of a value."""
        if not self.quote or self.quote not in line:
            return quoted
        at = 0
        while at < len(line):
            if not quoted:
                starts = at == 0 or line[at - 1] in self.delims
                quoted = starts and line[at] == self.quote
            elif line[at] == self.escape and line[at + 1 : at + 2] and self._escapes(line[at + 1]):
                at += 1
            elif line[at] == self.quote:
                quoted = False
            at += 1
        return quoted

    def _escapes(self, following: str) -> bool:
        return self.escape != self.quote or following == self.quote


class UncommentedStream(io.RawIOBase):
    """The bytes of a stream without comments, as UTF-8."""

    def __init__(self, stream: pa.NativeFile, signs: Signs, encoding: str) -> None:
        lines = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
        self._lines = without_comments(lines, signs)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what io hands over
        while not self._rest:
            line = next(self._lines, None)
            if line is None:
                return 0
            self._rest = line.encode("utf-8", errors="surrogateescape")
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken
