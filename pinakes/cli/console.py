"""Where things are printed: rows to stdout; what is said about them to stderr when a machine reads the rows."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats import MACHINE_FORMATS, writer
from pinakes.core.errors import PinakesError

if TYPE_CHECKING:
    from pinakes.engine.result import Result

log = logging.getLogger(__name__)


@dataclass
class Console:
    format: str = "table"
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)

    def show(self, result: Result) -> None:
        """The rows of a result, or the tag of a statement that has none."""
        if result.kind == "rows":
            writer(self.format)(result, self.out, self._width())
        else:
            for _ in result:  # a change may still have to be carried out
                pass
            self.note(result.kind if result.count is None else f"{result.kind} {result.count}")
        self.out.flush()

    def note(self, text: str) -> None:
        """What is not a row."""
        print(text, file=self.err if self.format in MACHINE_FORMATS else self.out, flush=True)

    def warn(self, text: str) -> None:
        print(f"warning: {text}", file=self.err, flush=True)

    def error(self, error: Exception, place: str = "", start: tuple[int, int] = (1, 1)) -> None:
        """`place: CODE: message`; `start` is where the statement begins, so that positions are the script's own."""
        self.out.flush()
        print(f"{place}{described(error, start)}", file=self.err, flush=True)

    def _width(self) -> int | None:
        """The terminal's width; some terminals don't know theirs and say 0."""
        return (os.get_terminal_size(self.out.fileno()).columns or None) if self.out.isatty() else None


def described(error: Exception, start: tuple[int, int] = (1, 1)) -> str:
    """`CODE: message`, with the marked text where there is a position. A bug of ours is one line too."""
    if not isinstance(error, PinakesError):
        log.debug("unexpected", exc_info=error)
        return f"INTERNAL_ERROR: {type(error).__name__}: {error}"
    log.debug("%s", error.code, exc_info=error)
    at = error.position
    if at is None:
        return f"{error.code}: {error.message}"
    line, column = start[0] + at.line - 1, at.column + (start[1] - 1 if at.line == 1 else 0)
    return f"{error.code}: {error.message} (line {line}, column {column})\n{at.marked()}"
