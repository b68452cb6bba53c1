"""Displays the first rows of a result: as a text table, or as HTML for a notebook. Values are formatted by
`core/output/value_format.py`."""

from __future__ import annotations

import html
import shutil
import unicodedata
from collections.abc import Sequence

import pyarrow as pa

from pinakes.core.output.terminal_text import NULL, VISIBLE, fit_width, is_number
from pinakes.core.output.value_format import as_text as text_of
from pinakes.core.output.value_format import rows as plain_rows
from pinakes.core.types.arrow_names import sql_name_of_arrow

LONGEST = 200
"""Maximum characters of a cell."""
MOST_COLUMNS = 100
"""Maximum number of columns in HTML; text shows all columns."""

_HTML_NULL = '<em style="opacity: 0.5">NULL</em>'


def as_text(schema: pa.Schema, rows: pa.Table, more: bool, width: int | None) -> str:
    """Returns a text table that fits into `width` columns (None: those of the terminal), with a summary line below."""
    names = [_clipped(name.translate(VISIBLE)) for name in schema.names]
    types = [_clipped(sql_name_of_arrow(t)) for t in schema.types]
    cells = [[_cell_text(cell) for cell in row] for row in _cells(rows)]
    right = [is_number(t) for t in schema.types]
    needed = [max(map(_wide, column)) for column in zip(names, types, *cells, strict=True)]
    widths = fit_width(needed, width or shutil.get_terminal_size().columns, right)
    left = [False] * len(names)
    lines = [_rule("┌┬┐", widths), _line(names, widths, left), _line(types, widths, left), _rule("├┼┤", widths)]
    lines += [_line(row, widths, right) for row in cells]
    return "\n".join([*lines, _rule("└┴┘", widths), _summary(len(cells), more)])


def as_html(schema: pa.Schema, rows: pa.Table, more: bool) -> str:
    """Returns an HTML table; all values are escaped. NULL is displayed differently from the text `NULL`."""
    shown = list(schema)[:MOST_COLUMNS]
    head = "".join(
        f"<th>{html.escape(_clipped(f.name.translate(VISIBLE)))}<br>"
        f'<small style="font-weight: normal">{html.escape(_clipped(sql_name_of_arrow(f.type)))}</small></th>'
        for f in shown
    )
    align = [' style="text-align: right"' if is_number(f.type) else ' style="text-align: left"' for f in shown]
    cells = _cells(rows.select(range(len(shown))))
    body = "".join(f"<tr>{''.join(map(_html_cell, align, row))}</tr>" for row in cells)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{table}<p>{_summary(rows.num_rows, more)}{_left_out(len(schema) - len(shown))}</p>"


def _html_cell(style: str, cell: str | None) -> str:
    return f"<td{style}>{_HTML_NULL if cell is None else html.escape(cell)}</td>"


def _left_out(columns: int) -> str:
    return f" and {columns} more column{'' if columns == 1 else 's'}" if columns else ""


def _summary(count: int, more: bool) -> str:
    rows = f"{count} row{'' if count == 1 else 's'}"
    return f"(the first {rows}; there are more)" if more else f"({rows})"


def _cells(rows: pa.Table) -> list[list[str | None]]:
    """Returns the formatted values; NULL is None."""
    return [
        [None if v is None else _clipped(text_of(v).translate(VISIBLE)) for v in row]
        for batch in rows.to_batches()
        for row in plain_rows(batch)
    ]


def _cell_text(cell: str | None) -> str:
    return NULL if cell is None else f'"{NULL}"' if cell == NULL else cell


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _rule(corners: str, widths: Sequence[int]) -> str:
    return corners[0] + corners[1].join("─" * (w + 2) for w in widths) + corners[2]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    return "│ " + " │ ".join(_padded(*each) for each in zip(cells, widths, right, strict=True)) + " │"


def _padded(text: str, width: int, right: bool) -> str:
    if _wide(text) > width:
        while _wide(text) > width - 1:
            text = text[:-1]
        text += "…"
    space = " " * (width - _wide(text))
    return space + text if right else text + space


def _wide(text: str) -> int:
    """Returns the display width of a text in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
