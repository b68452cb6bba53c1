"""The expanded form: each column on its own line, for rows that are too wide for a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from rich.cells import chop_cells

from pinakes.cli.formats.layout import PLAIN, Look, Sheet, dim, width
from pinakes.cli.formats.table import draw as draw_table
from pinakes.cli.formats.table import fits
from pinakes.core.output.terminal_text import NARROWEST, NULL

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, room: int | None, look: Look = PLAIN) -> int:
    return draw(Sheet(result), out, room, look)


def write_if_wide(result: Result, out: TextIO, room: int | None, look: Look = PLAIN) -> int:
    """Writes a table if nothing has to be cut, otherwise the expanded form."""
    sheet = Sheet(result)
    if fits(sheet.widths(), room):
        return draw_table(sheet, out, room, look)
    return draw(sheet, out, room, look)


def draw(sheet: Sheet, out: TextIO, room: int | None, look: Look) -> int:
    """Writes all rows; returns their number."""
    margin = max(map(width, sheet.names), default=0)
    names = [name + " " * (margin - width(name)) for name in sheet.names]
    wrap = None if room is None else max(NARROWEST, room - margin - 3)
    null = dim(NULL) if look.colour else NULL
    count = 0
    for piece in sheet.pieces():
        for row in zip(*piece, strict=True):
            count += 1
            out.write(_title(count, margin, room))
            for name, text in zip(names, row, strict=True):
                out.write("".join(_lines(name, null if text is None else text, wrap if text is not None else None)))
    out.write(look.footer(count))
    return count


def _title(number: int, margin: int, room: int | None) -> str:
    label = f"─[ row {number} ]"
    return label + "─" * max(0, min(room or 40, 40) - len(label)) + "\n"


def _lines(name: str, text: str, wrap: int | None) -> Iterator[str]:
    """Yields the lines of a value after its column name; long values are wrapped, line breaks are kept."""
    first = name
    for line in text.split("\n"):
        for part in (chop_cells(line, wrap) or [""]) if wrap is not None and width(line) > wrap else [line]:
            yield f"{first} │ {part}\n"
            first = " " * width(name)
