"""The output formats, one module each with a function `write`. They are loaded on demand, so that `--help` loads none.

`write(result, out, width)` streams the rows of a result to `out` and returns their number; `width` is that of the
terminal, None for unlimited. A machine-readable format prints only rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pinakes.engine.result import Result

Write = Callable[["Result", TextIO, "int | None"], int]

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "arrow")
MACHINE_FORMATS = frozenset(FORMATS) - {"table", "markdown"}


def writer(name: str) -> Write:
    """Returns the function that writes a format."""
    write: Write = import_module(f"pinakes.cli.formats.{name}").write
    return write
