"""Edits at known places of a text: names, parameters and clauses are replaced, everything else stays as written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from pinakes.core.errors import InternalError, Position
from pinakes.parser.statements import Span


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Put `text` in place of the characters from `start` to `end`; start = end inserts."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Spliced:
    """A rewritten piece of a statement that still knows where each character came from."""

    text: str
    original: str
    places: tuple[tuple[int, int], ...]
    """(offset here, offset in the original) at the start of each run that was copied."""

    def locate(self, line: int, column: int) -> Position | None:
        """The user's position behind a 1-based line and column of the rewritten text."""
        lines = self.text.split("\n")
        if not 1 <= line <= len(lines):
            return None
        offset = sum(len(part) + 1 for part in lines[: line - 1]) + column - 1
        at = bisect_right(self.places, (offset, len(self.original))) - 1
        if at < 0:
            return None
        here, there = self.places[at]
        return Position.of(self.original, there + offset - here)


def splice(text: str, edits: Iterable[Edit], span: Span | None = None) -> Spliced:
    """The part of `text` within `span`, with those edits applied that lie in it."""
    start, end = (span.start, span.end) if span else (0, len(text))
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    length, at = 0, start
    for edit in sorted(edits):
        if (edit.end <= start and edit.start < start) or (edit.start >= end and edit.end > end):
            continue
        if edit.start < at or edit.end > end:
            raise InternalError(f"two changes of the same piece of text: {edit}")
        places.append((length, at))
        pieces += (text[at : edit.start], edit.text)
        length += edit.start - at + len(edit.text)
        at = edit.end
    places.append((length, at))
    pieces.append(text[at:end])
    return Spliced("".join(pieces), text, tuple(places))
