"""The output formats, one module each with a function `write`. They load when asked for: `--help` needs none.

`write(result, out, width)` streams a result's rows to `out` and returns how many there were; `width` is the
terminal's, None when nothing limits it. A machine format prints rows and nothing else.
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
    """The function that writes a format."""
    write: Write = import_module(f"pinakes.cli.formats.{name}").write
    return write
