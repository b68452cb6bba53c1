"""CSV files with lines to leave out: those that start with the comment character outside of quotes."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa


def without_comments(lines: Iterator[str], comment: str | None, quote: str) -> Iterator[str]:
    if comment is None:
        yield from lines
        return
    quoted = False
    for line in lines:
        if not quoted and line.lstrip(" \t").startswith(comment):
            continue
        if quote and line.count(quote) % 2:
            quoted = not quoted
        yield line


class Uncommented(io.RawIOBase):
    """The bytes of a stream without its comments, as UTF-8."""

    def __init__(self, stream: pa.NativeFile, comment: str, quote: str, encoding: str) -> None:
        lines = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
        self._lines = without_comments(lines, comment, quote)
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
