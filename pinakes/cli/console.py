"""Output of the command line: rows go to stdout; messages go to stderr in machine-readable formats."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO, cast

from pinakes.cli.display import Display, is_coloured
from pinakes.cli.formats import MACHINE_FORMATS, writer
from pinakes.core.errors import PinakesError, QueryCanceled, WriteFailed
from pinakes.core.output.terminal_text import printable

if TYPE_CHECKING:
    from pinakes.engine.result import Result

log = logging.getLogger(__name__)


@dataclass
class Console:
    format: str = "table"
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    display: Display = field(default_factory=Display)
    screen: TextIO | None = None
    """The previous `out` while `\\o` redirects results to a file."""
    _begun: float = field(default_factory=time.perf_counter)

    def show(self, result: Result) -> None:
        """Prints the rows of a result, or the tag of a statement without rows."""
        if result.kind == "rows":
            with self._screen(result) as out:
                self._write(result, out)
        else:
            for _ in result:  # runs the change, if it has not run yet
                pass
            self.note((result.kind if result.count is None else f"{result.kind} {result.count}") + self._time())
        self.out.flush()

    def begin(self) -> None:
        """Starts the timer of a statement."""
        self._begun = time.perf_counter()

    def note(self, text: str) -> None:
        """Prints a line that is not a row."""
        print(printable(text), file=self.err if self.format in MACHINE_FORMATS else self.out, flush=True)

    def say(self, text: str) -> None:
        """Prints the message of a command to the terminal, also while results go to a file."""
        out = self.err if self.format in MACHINE_FORMATS else self.screen or self.out
        print(printable(text), file=out, flush=True)

    def warn(self, text: str) -> None:
        print(printable(f"warning: {text}"), file=self.err, flush=True)

    def error(self, error: Exception, place: str = "", start: tuple[int, int] = (1, 1)) -> None:
        """Prints `place: CODE: message`; `start` is the start of the statement, so that positions refer to the
        script."""
        try:
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as failed:  # if this is not the error being reported, it is reported at exit
            log.debug("the output could not be written", exc_info=failed)
        print(printable(f"{place}{describe_error(error, start)}"), file=self.err, flush=True)

    def _write(self, result: Result, out: TextIO) -> None:
        width = self._width() if self.display.fit else None
        if self.format != "table":
            writer(self.format)(result, out, width)
            if self.display.timing:
                self.note(self._time().strip())
            return
        from pinakes.cli.formats.layout import Look

        look = Look(is_coloured(self.out), self._elapsed if self.display.timing else None)
        if self.display.expanded == "off":
            from pinakes.cli.formats import table

            table.write(result, out, width, look)
        else:
            from pinakes.cli.formats import expanded

            write = expanded.write if self.display.expanded == "on" else expanded.write_if_wide
            write(result, out, width, look)

    @contextmanager
    def _screen(self, result: Result) -> Iterator[TextIO]:
        """Returns the stream for rows: a pager once they exceed the screen, if enabled."""
        if not (self.display.pager and self.out.isatty()):
            yield self.out
            return
        from pinakes.cli.pager import Paged, pager_command

        command = pager_command()
        if not command:
            yield self.out
            return
        paged = Paged(self.out, command, os.get_terminal_size(self.out.fileno()), result.close)
        try:
            yield cast(TextIO, paged)
        except (BrokenPipeError, QueryCanceled):
            if not paged.left:
                raise
        finally:
            paged.finish()

    def _elapsed(self) -> float:
        return time.perf_counter() - self._begun

    def _time(self) -> str:
        return f" ({self._elapsed():.3f} s)" if self.display.timing else ""

    def _width(self) -> int | None:
        """Returns the terminal's width; some terminals report 0."""
        return (os.get_terminal_size(self.out.fileno()).columns or None) if self.out.isatty() else None


@contextmanager
def output_errors() -> Iterator[None]:
    """Converts errors of writing output. A closed pipe is not converted."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteFailed(f"can't write the output: {error.strerror or error}") from error


def describe_error(error: Exception, start: tuple[int, int] = (1, 1)) -> str:
    """Returns the message of an error. An internal error is also a single line."""
    log.debug("%s", type(error).__name__, exc_info=error)
    if isinstance(error, PinakesError):
        return error.render(start)
    return f"INTERNAL_ERROR: {type(error).__name__}: {error}"
