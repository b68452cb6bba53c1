"""Runs statements for the command line: each on a thread of its own, so that Ctrl-C can cancel it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pinakes.api.foreground import Foreground
from pinakes.cli.console import Console, output_errors
from pinakes.cli.desk import Desk
from pinakes.cli.progress import Progress

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.session import Session


class Runner:
    def __init__(self, session: Session, console: Console) -> None:
        self.session = session
        self.console = console
        self.desk = Desk()
        self._printing = False

    def run(self, sql: str) -> None:
        """Run one statement and show what it gives. Ctrl-C cancels it and is passed on when it has ended."""
        self.show(lambda: self.session.run(sql))

    def show(self, make: Callable[[], Result]) -> None:
        """The same for a result that is made otherwise."""
        progress = Progress(self.session, self.console.out, self.console.err)
        foreground = Foreground(
            lambda: self._run(make, progress),
            self.session.cancel,
            meanwhile=progress.tick,
            is_stuck=lambda: self._printing and not self.console.out.isatty(),  # rows in a pipe may never be taken
        )
        try:
            foreground.run()
        except Exception:
            if not foreground.interrupted:
                raise
        finally:
            progress.end()
        if foreground.interrupted:
            raise KeyboardInterrupt

    def _run(self, make: Callable[[], Result], progress: Progress) -> None:
        self.console.begin()
        self._printing = False
        try:
            result = make()
            self._printing = result.kind == "rows"
            try:
                with output_errors():
                    self.console.show(result.through(progress.over))
            finally:
                result.close()
        finally:
            progress.end()
            for warning in self.session.warnings:
                self.console.warn(warning)
            self.session.warnings.clear()
