"""Runs statements for the command line, each on its own thread, so that Ctrl-C can cancel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pinakes.api.interruptible import Foreground
from pinakes.cli.console import Console, output_errors
from pinakes.cli.progress import Progress
from pinakes.core.errors import QueryCanceled

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from pinakes.api.shell_backend import ShellBackend
    from pinakes.engine.result import Result


@dataclass
class ShellState:
    """State that statements and commands of a shell or script leave for later ones."""

    last: str = ""
    """The last statement: `\\g` runs it again, `\\p` prints it and `\\e` edits it."""
    drafted: str = ""
    """The initial text of the next prompt."""
    depth: int = 0
    """The nesting depth of `\\i`."""
    editing: Literal["emacs", "vi"] = "emacs"
    typed: Callable[[], Sequence[str]] | None = None
    """The history, oldest first; None in a script."""


class Leave(Exception):
    """`\\q`: ends the script or the shell without an error."""


class IncludeFailed(Exception):
    """An included file failed and has reported it: the including script ends, too."""


class Runner:
    def __init__(self, backend: ShellBackend, console: Console) -> None:
        self.backend = backend
        self.console = console
        self.state = ShellState()
        self._printing = False

    def run(self, sql: str) -> None:
        """Runs one statement and prints its result. Ctrl-C cancels it and is raised when the statement has ended."""
        self.show(lambda: self.backend.run(sql))

    def show(self, make: Callable[[], Result]) -> None:
        """Prints the result of `make`, like `run`."""
        progress = Progress(self.backend, self.console.out, self.console.err)
        wait = _Wait()
        foreground = Foreground(
            lambda: self._run(make, progress, wait),
            lambda: self._cancel(wait),
            meanwhile=progress.tick,
            is_stuck=lambda: self._is_stuck(wait),
        )
        try:
            foreground.run()
        except Exception:
            if not foreground.interrupted:
                raise
        except KeyboardInterrupt:
            self.backend.leave()
            raise
        finally:
            wait.over = True
            progress.end()
        if foreground.interrupted:
            raise KeyboardInterrupt

    def _run(self, make: Callable[[], Result], progress: Progress, wait: _Wait) -> None:
        self.console.begin()
        self._printing = False
        try:
            result = make()
            self._printing = result.kind == "rows"
            try:
                with output_errors():
                    self.console.show(result.through(progress.over).through(wait.watched))
            finally:
                result.close()
        finally:
            progress.end()
            if not wait.over:
                for warning in self.backend.take_warnings():
                    self.console.warn(warning)

    def _cancel(self, wait: _Wait) -> None:
        wait.canceled = True
        self.backend.cancel()

    def _is_stuck(self, wait: _Wait) -> bool:
        """Whether the statement may never end: rows in a pipe may never be read, and a server may never answer."""
        return (self._printing and not self.console.out.isatty()) or (wait.for_rows and self.backend.may_be_left())


class _Wait:
    """The state shared by the thread of a statement and the thread that waits for it."""

    def __init__(self) -> None:
        self.canceled = False
        self.over = False
        """Set when the statement is abandoned: it must not print any more."""
        self.for_rows = True
        """Whether the thread waits for rows, and is not printing."""

    def watched(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        """Yields the batches, none after the cancellation: those of a server may be in transit."""
        try:
            for batch in batches:
                if self.canceled:
                    raise QueryCanceled("the statement was canceled")
                self.for_rows = False
                yield batch
                self.for_rows = True
            if self.over:
                raise QueryCanceled("the statement was canceled")
        finally:
            getattr(batches, "close", lambda: None)()
