"""The output formats, one module each with a function `write`, loaded on first use. How a single value prints is
decided by `core/output/value_format.py`.

`write(result, out, width)` streams the rows of a result to `out` and returns their number; `width` is the width of the
terminal, or None for no limit. A machine-readable format prints rows and nothing else.
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
