"""What the box and the expanded form share: a result as texts for people, and the widths of its columns.

The first rows are looked at to find the widths; the rest streams. Nothing that could move the cursor gets through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from rich.cells import cell_len, set_cell_size

from pinakes.core.screen import HAS_HIDDEN, NULL, VISIBLE, is_number
from pinakes.core.texts import is_text, pieces, texts

if TYPE_CHECKING:
    from pinakes.engine.result import Result

SAMPLE = 1000
"""Rows that are looked at to find the widths."""

_BUT_BREAKS = {code: text for code, text in VISIBLE.items() if code != ord("\n")}

Column = list[str | None]
Piece = list[Column]
"""Some rows, column by column; None is NULL."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a result is shown: with colours, with the time it took below it."""

    colour: bool = False
    elapsed: Callable[[], float] | None = None

    def footer(self, count: int, hint: str = "") -> str:
        """`(3 rows, 0.012 s)`"""
        said = [f"{count} row{'' if count == 1 else 's'}"]
        if self.elapsed is not None:
            said.append(f"{self.elapsed():.3f} s")
        return f"({', '.join(said)}{hint})\n"


PLAIN = Look()


class Sheet:
    """A result as texts, read once. With `breaks`, line breaks stay what they are; else they are made visible too."""

    def __init__(self, result: Result, *, breaks: bool = False) -> None:
        self._breaks = breaks
        self.names = [name.translate(VISIBLE) for name in result.schema.names]
        self.right = [is_number(kind) for kind in result.schema.types]
        self._rest: Iterator[Piece] = self._pieces(result)
        self._sample: list[Piece] = []
        count = 0
        while count < SAMPLE and (piece := next(self._rest, None)) is not None:
            self._sample.append(piece)
            count += len(piece[0]) if piece else 0

    def pieces(self) -> Iterator[Piece]:
        yield from self._sample
        self._sample = []
        yield from self._rest

    def one_line_each(self) -> Sheet:
        """The same without line breaks."""
        if self._breaks:
            self._sample = [_unbroken(piece) for piece in self._sample]
            self._rest = map(_unbroken, self._rest)
        return self

    def widths(self) -> list[int]:
        """The widths that the names and the sample need."""
        widths = [width(name) for name in self.names]
        for piece in self._sample:
            widths = [max(w, widest(column)) for w, column in zip(widths, piece, strict=True)]
        return widths

    def _pieces(self, result: Result) -> Iterator[Piece]:
        for batch in result:
            for part in pieces(batch):
                yield [_shown(array, _BUT_BREAKS if self._breaks else VISIBLE) for array in part.columns]


def _unbroken(piece: Piece) -> Piece:
    return [[None if text is None else text.replace("\n", VISIBLE[10]) for text in column] for column in piece]


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, room: int) -> str:
    """A text that is too wide for its room, with a mark where it was cut."""
    return text[: room - 1] + "…" if text.isascii() else set_cell_size(text, room - 1) + "…"


def widest(column: Column) -> int:
    """The width of the widest cell."""
    texts = [NULL if text is None else text for text in column]
    measure = len if "".join(texts).isascii() else width
    return max(map(measure, texts), default=0)


def _shown(array: pa.Array, visible: dict[int, str]) -> Column:
    found = texts(array)
    values: Column = found.to_pylist()
    if pc.any(pc.match_substring_regex(found, HAS_HIDDEN)).as_py():
        values = [None if text is None else text.translate(visible) for text in values]
    if is_text(array.type):
        return [f'"{NULL}"' if text == NULL else text for text in values]  # else nobody could tell it from a NULL
    return values


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[22m"
