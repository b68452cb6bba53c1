"""A table in a box, for people: widths from the first rows, fitted to the terminal, the rest streams below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TextIO

import pyarrow as pa
from rich.cells import cell_len, set_cell_size

from pinakes.cli.formats.values import as_text, rows

if TYPE_CHECKING:
    from pinakes.engine.result import Result

SAMPLE = 1000
"""Rows that are looked at to find the widths."""
NARROWEST = 8
"""No column is made narrower than this to fit the terminal."""

# A control character must not reach the terminal: it could move the cursor or worse.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_VISIBLE |= {ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}


def write(result: Result, out: TextIO, width: int | None) -> int:
    names = [name.translate(_VISIBLE) for name in result.schema.names]
    right = [_is_number(kind) for kind in result.schema.types]
    lines = _cells(result)
    sample = list(islice(lines, SAMPLE))
    widths = fitted(_widths([names, *sample]), width)
    count = 0
    out.write(_rule("┌┬┐", widths) + _line(names, widths, [False] * len(names), width) + _rule("├┼┤", widths))
    for cells in chain(sample, lines):
        out.write(_line(cells, widths, right, width))
        count += 1
    out.write(_rule("└┴┘", widths) + f"({count} row{'' if count == 1 else 's'})\n")
    return count


def fitted(widths: Sequence[int], total: int | None) -> list[int]:
    """Widths that fit into the terminal where possible: the widest columns give first."""
    fit = list(widths)
    spare = (total or 0) - 3 * len(fit) - 1
    while total is not None and sum(fit) > spare and max(fit) > NARROWEST:
        widest = fit.index(max(fit))
        second = max((w for w in fit if w < fit[widest]), default=NARROWEST)
        fit[widest] = max(fit[widest] - (sum(fit) - spare), second - 1, NARROWEST)
    return fit


def _cells(result: Result) -> Iterator[list[str]]:
    for batch in result:
        for row in rows(batch):
            yield ["NULL" if v is None else as_text(v).translate(_VISIBLE) for v in row]


def _widths(lines: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(_width, column)) for column in zip(*lines, strict=True)]


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _rule(corners: str, widths: Sequence[int]) -> str:
    return corners[0] + corners[1].join("─" * (w + 2) for w in widths) + corners[2] + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool], total: int | None) -> str:
    padded = (_padded(*each, clip=total is not None) for each in zip(cells, widths, right, strict=True))
    return "│ " + " │ ".join(padded) + " │\n"


def _padded(text: str, width: int, right: bool, *, clip: bool) -> str:
    """A cell of the column's width. What is too long is cut only for a terminal; a file gets all of it."""
    missing = width - _width(text)
    if missing >= 0:
        return " " * missing + text if right else text + " " * missing
    return set_cell_size(text, width - 1) + "…" if clip else text
