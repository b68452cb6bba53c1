"""Runs statements for the command line: each on a thread of its own, so that Ctrl-C can cancel it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pinakes.cli.console import Console, output_errors
from pinakes.cli.desk import Desk
from pinakes.cli.progress import Progress

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.session import Session


GRACE = 2.0
"""Seconds that rows of a canceled statement may still take to be printed."""


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
        failure: list[BaseException] = []
        progress = Progress(self.session, self.console.out, self.console.err)
        done = threading.Event()  # a `join` that Ctrl-C interrupts takes the thread for ended
        arguments = (make, progress, failure, done)
        threading.Thread(target=self._guarded, args=arguments, daemon=True, name="statement").start()
        try:
            progress.until(done)
        except (KeyboardInterrupt, SystemExit):  # SystemExit is what SIGTERM raises
            progress.end()
            self.session.cancel()
            self._wait(done)
            raise
        if failure:
            raise failure[0]

    def _wait(self, done: threading.Event) -> None:
        """Until a statement that was canceled has ended; a second Ctrl-C leaves without waiting. Rows that go into a
        pipe may never be taken: then there is nothing to wait for."""
        while not done.wait(GRACE):
            if self._printing and not self.console.out.isatty():
                return

    def _guarded(
        self, make: Callable[[], Result], progress: Progress, failure: list[BaseException], done: threading.Event
    ) -> None:
        try:
            self._run(make, progress)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(error)
        finally:
            done.set()

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
