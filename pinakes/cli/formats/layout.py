"""Shared by the table and the expanded form: a result as text, and the widths of its columns.

The widths come from the first rows; the rest is streamed. Control characters are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from rich.cells import cell_len, set_cell_size

from pinakes.core.output.terminal_text import BUT_BREAKS, HAS_HIDDEN, NULL, VISIBLE, is_number
from pinakes.core.output.texts import is_text, pieces, texts

if TYPE_CHECKING:
    from pinakes.engine.result import Result

SAMPLE = 1000
"""Rows that determine the widths."""

Column = list[str | None]
Piece = list[Column]
"""Some rows, column by column; None is NULL."""


@dataclass(frozen=True, slots=True)
class Look:
    """The style of a result: colours, and the execution time below."""

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
    """A result as text, read once. Line breaks are kept."""

    def __init__(self, result: Result) -> None:
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

    def widths(self) -> list[int]:
        """Returns the widths of the names and the sample."""
        widths = [width(name) for name in self.names]
        for piece in self._sample:
            widths = [max(w, widest(column)) for w, column in zip(widths, piece, strict=True)]
        return widths

    def _pieces(self, result: Result) -> Iterator[Piece]:
        for batch in result:
            for part in pieces(batch):
                yield [_shown(array) for array in part.columns]


def spread(piece: Piece) -> Piece:
    """Returns the rows as lines: a cell of several lines takes several rows, the other cells are in the first one."""
    if not any("\n" in text for column in piece for text in column if text is not None):
        return piece
    lines: Piece = [[] for _ in piece]
    for row in zip(*piece, strict=True):
        cells: list[Column] = [[None] if text is None else [*text.split("\n")] for text in row]
        height = max(map(len, cells))
        for column, cell in zip(lines, cells, strict=True):
            column += cell + [""] * (height - len(cell))
    return lines


def width(text: str) -> int:
    """Returns the display width of a text in a terminal."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, room: int) -> str:
    """Cuts a text to the given width and marks the cut."""
    return text[: room - 1] + "…" if text.isascii() else set_cell_size(text, room - 1) + "…"


def widest(column: Column) -> int:
    """Returns the width of the widest line."""
    texts = "\n".join(NULL if text is None else text for text in column).split("\n")
    measure = len if "".join(texts).isascii() else width
    return max(map(measure, texts), default=0)


def _shown(array: pa.Array) -> Column:
    found = texts(array)
    values: Column = found.to_pylist()
    if pc.any(pc.match_substring_regex(found, HAS_HIDDEN)).as_py():
        values = [None if text is None else text.translate(BUT_BREAKS) for text in values]
    if is_text(array.type):
        return [f'"{NULL}"' if text == NULL else text for text in values]  # distinguishes it from NULL
    return values


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[22m"
