"""Runs statements for the command line: each on a thread of its own, so that Ctrl-C can cancel it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pinakes.cli.console import Console

if TYPE_CHECKING:
    from pinakes.engine.session import Session


class Runner:
    def __init__(self, session: Session, console: Console) -> None:
        self.session = session
        self.console = console

    def run(self, sql: str) -> None:
        """Run one statement and show what it gives. Ctrl-C cancels it and is passed on when it has ended."""
        failure: list[BaseException] = []
        worker = threading.Thread(target=self._guarded, args=(sql, failure), daemon=True, name="statement")
        worker.start()
        try:
            worker.join()
        except KeyboardInterrupt:
            self.session.cancel()
            worker.join()  # a second Ctrl-C leaves without waiting
            raise
        if failure:
            raise failure[0]

    def _guarded(self, sql: str, failure: list[BaseException]) -> None:
        try:
            self._run(sql)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(error)

    def _run(self, sql: str) -> None:
        try:
            result = self.session.run(sql)
            try:
                self.console.show(result)
            finally:
                result.close()
        finally:
            for warning in self.session.warnings:
                self.console.warn(warning)
            self.session.warnings.clear()
