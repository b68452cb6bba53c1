"""Tab-separated values: a header line, then one line per row; tabs, line breaks and backslashes in it are escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.values import as_text, rows

if TYPE_CHECKING:
    from pinakes.engine.result import Result

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write(result: Result, out: TextIO, width: int | None) -> int:
    out.write(_line(result.schema.names))
    count = 0
    for batch in result:
        out.writelines(_line("" if v is None else as_text(v) for v in row) for row in rows(batch))
        count += batch.num_rows
    return count


def _line(cells: Iterable[str]) -> str:
    return "\t".join(cell.translate(_ESCAPES) for cell in cells) + "\n"
