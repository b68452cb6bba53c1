"""Runs statements for the command line: each on a thread of its own, so that Ctrl-C can cancel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pinakes.api.interruptible import Foreground
from pinakes.cli.console import Console, output_errors
from pinakes.cli.progress import Progress
from pinakes.cli.shell_state import Desk
from pinakes.core.errors import QueryCanceled

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from pinakes.api.shell_backend import Seat
    from pinakes.engine.result import Result


class Runner:
    def __init__(self, seat: Seat, console: Console) -> None:
        self.seat = seat
        self.console = console
        self.desk = Desk()
        self._printing = False

    def run(self, sql: str) -> None:
        """Run one statement and show what it gives. Ctrl-C cancels it and is passed on when it has ended."""
        self.show(lambda: self.seat.run(sql))

    def show(self, make: Callable[[], Result]) -> None:
        """The same for a result that is made otherwise."""
        progress = Progress(self.seat, self.console.out, self.console.err)
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
            self.seat.leave()
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
                for warning in self.seat.take_warnings():
                    self.console.warn(warning)

    def _cancel(self, wait: _Wait) -> None:
        wait.canceled = True
        self.seat.cancel()

    def _is_stuck(self, wait: _Wait) -> bool:
        """Rows in a pipe may never be taken, and a server may never answer."""
        return (self._printing and not self.console.out.isatty()) or (wait.for_rows and self.seat.may_be_left())


class _Wait:
    """How it stands with the thread that runs a statement, and with who waits for it."""

    def __init__(self) -> None:
        self.canceled = False
        self.over = False
        """Nobody waits any more: what comes now must not be printed, since somebody else prints."""
        self.for_rows = True
        """Whether it waits for rows, and does not print any."""

    def watched(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        """The batches, none of them after the statement was canceled: a server's may be on their way already."""
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
