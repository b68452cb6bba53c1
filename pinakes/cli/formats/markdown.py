"""Markdown: each result is one table, followed by an empty line. NULL is printed as NULL.

Markup characters are escaped; a line break in a cell is <br>, since a row is one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TextIO

import pyarrow as pa
from rich.cells import cell_len

from pinakes.core.output.terminal_text import VISIBLE
from pinakes.core.output.value_format import as_text, rows

if TYPE_CHECKING:
    from pinakes.engine.result import Result

SAMPLE = 100
"""Rows that determine the column widths."""
_MARKUP = re.compile(r"[\\|*`<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
# The backslash is also escaped.
_VISIBLE = {code: f"\\{text}" for code, text in VISIBLE.items() if code != ord("\t")}


def write(result: Result, out: TextIO, width: int | None) -> int:
    names = [escaped(name) for name in result.schema.names]
    right = [_is_number(kind) for kind in result.schema.types]
    lines = _cells(result)
    sample = list(islice(lines, SAMPLE))
    widths = [max(3, *map(cell_len, column)) for column in zip(names, *sample, strict=True)]
    out.write(_line(names, widths, right) + _rule(widths, right))
    count = 0
    for cells in chain(sample, lines):
        out.write(_line(cells, widths, right))
        count += 1
    out.write("\n")
    return count


def escaped(text: str) -> str:
    """Escapes a text for a cell."""
    found = _MARKUP.sub(lambda sign: "\\" + sign.group() if sign.group() != "&" else "&amp;", text)
    return _LINE_BREAK.sub("<br>", found).translate(_VISIBLE)


def _cells(result: Result) -> Iterator[list[str]]:
    for batch in result:
        for row in rows(batch):
            yield ["NULL" if v is None else escaped(as_text(v)) for v in row]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _rule(widths: Sequence[int], right: Sequence[bool]) -> str:
    dashes = ("-" * (w - 1) + ":" if number else "-" * w for w, number in zip(widths, right, strict=True))
    return "| " + " | ".join(dashes) + " |\n"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (_padded(*each) for each in zip(cells, widths, right, strict=True))
    return "| " + " | ".join(padded) + " |\n"


def _padded(text: str, width: int, right: bool) -> str:
    missing = " " * (width - cell_len(text))
    return missing + text if right else text + missing
