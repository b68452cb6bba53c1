"""CSV comments: skips lines that start with the comment character outside of quotes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa


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


class Uncommented(io.RawIOBase):
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
