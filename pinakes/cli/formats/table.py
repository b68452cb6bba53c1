"""A table with borders, fitted to the terminal: long cells are cut, and columns that do not fit are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.layout import PLAIN, Column, Look, Piece, Sheet, cut, dim, spread, widest, width
from pinakes.core.output.terminal_text import NARROWEST, NULL, fit_width

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, room: int | None, look: Look = PLAIN) -> int:
    return draw(Sheet(result), out, room, look)


def draw(sheet: Sheet, out: TextIO, room: int | None, look: Look) -> int:
    """Writes the table; returns the number of rows."""
    needed = sheet.widths()
    kept = columns_that_fit(needed, room, sheet.right)
    left_out = len(needed) - kept
    inner, end = (room and room - 4, " │ …") if left_out else (room, " │")
    box = _Box(needed[:kept], sheet.right[:kept], inner, look.colour)
    out.write(box.rule("┌┬┐", left_out) + box.header(sheet.names, end) + box.rule("├┼┤", left_out))
    count = 0
    for piece in sheet.pieces():
        box.widen(piece[:kept])
        out.write(box.lines(spread(piece[:kept]), end))
        count += len(piece[0]) if piece else 0
    hint = f"; {kept} of {len(needed)} columns, \\x shows all" if left_out else ""
    out.write(box.rule("└┴┘", left_out) + look.footer(count, hint))
    return count


def fits(widths: Sequence[int], room: int | None) -> bool:
    """Whether nothing has to be cut."""
    return room is None or sum(widths) + 3 * len(widths) + 1 <= room


def columns_that_fit(widths: Sequence[int], room: int | None, firm: Sequence[bool]) -> int:
    """Returns how many leading columns can be shown, at least one. Firm columns are never cut."""
    least = [w if whole else min(w, NARROWEST) for w, whole in zip(widths, firm, strict=True)]
    if room is None or fits(least, room):
        return len(least)
    used, kept = 1 + 4, 0
    for w in least:
        used += w + 3
        if used > room:
            break
        kept += 1
    return max(1, kept)


class _Box:
    """Lines of cells with the given widths. Long cells are cut for a terminal only."""

    def __init__(self, needed: Sequence[int], right: Sequence[bool], room: int | None, colour: bool) -> None:
        self._right, self._room, self._colour = right, room, colour
        self._set(list(needed))

    def widen(self, piece: Piece) -> None:
        """Widens the columns for wider values, if there is room: numbers grow further down."""
        needed = [max(w, widest(column)) for w, column in zip(self._needed, piece, strict=False)]
        if piece and needed != self._needed:
            self._set(needed)

    def _set(self, needed: list[int]) -> None:
        self._needed = needed
        self._widths = fit_width(needed, self._room, self._right)
        self._nulls = [_padded(NULL, w, at) for w, at in zip(self._widths, self._right, strict=True)]
        if self._colour:
            self._nulls = [dim(null) for null in self._nulls]

    def rule(self, corners: str, left_out: int) -> str:
        line = corners[0] + corners[1].join("─" * (w + 2) for w in self._widths)
        return line + (corners[1] + "┄┄\n" if left_out else corners[2] + "\n")

    def header(self, names: Sequence[str], end: str) -> str:
        cells = [self._filled([name], w, False, "")[0] for name, w in zip(names, self._widths, strict=False)]
        return "│ " + " │ ".join(cells) + end + "\n"

    def lines(self, piece: Piece, end: str) -> str:
        shape = zip(piece, self._widths, self._right, self._nulls, strict=False)
        filled = [self._filled(*each) for each in shape]
        return "".join(["│ " + " │ ".join(row) + end + "\n" for row in zip(*filled, strict=True)])

    def _filled(self, column: Column, room: int, right: bool, null: str) -> list[str]:
        if self._room is not None:
            column = [t if t is None or len(t) * 2 <= room or width(t) <= room else cut(t, room) for t in column]
        return [null if text is None else _padded(text, room, right) for text in column]


def _padded(text: str, room: int, right: bool) -> str:
    if text.isascii():
        return text.rjust(room) if right else text.ljust(room)
    space = " " * (room - width(text))
    return space + text if right else text + space
