"""Tab-separated values: CSV with tabs; a cell with a tab or a line break is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.csv import write_lines
from pinakes.core.output.row_formats import TSV

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    return write_lines(result, out, TSV)
