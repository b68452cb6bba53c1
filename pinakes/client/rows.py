"""A remote statement: its number, its progress, its rows."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.api.shell_backend import Work
from pinakes.client.errors import FAILURES, broken, translated
from pinakes.core.errors import PinakesError, ServerUnavailable

if TYPE_CHECKING:
    import pyarrow.flight as fl

    from pinakes.client.wire import Wire

log = logging.getLogger(__name__)

_Request = Callable[[], None]

ANSWER = 2.0
"""Maximum seconds for a request that the server answers immediately."""
INTERVAL = 0.5
"""Seconds between two progress requests."""


class Statement:
    """One statement. Progress and cancel requests run on separate threads, one of each kind at a time, so that the
    caller never waits for them."""

    def __init__(self, number: int, sql: str, wire: Wire) -> None:
        self.number, self.sql, self._wire = number, sql, wire
        self.over = False
        self._work = Work("waiting", 0)
        self._rows = 0
        self._reader: fl.FlightStreamReader | None = None
        self._requests: dict[str, threading.Thread] = {}
        self._requested_at = time.monotonic()

    def fetch(self, ticket: bytes) -> pa.Schema:
        """Starts to fetch the rows; returns their schema."""
        self._reader = self._wire.rows(ticket)
        try:
            return self._reader.schema
        except FAILURES as error:
            raise self._received_error(error) from error

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields all rows, or raises."""
        assert self._reader is not None
        try:
            while True:
                try:
                    chunk = self._reader.read_chunk()
                except StopIteration:
                    self.over = True
                    return
                if chunk.data is not None:
                    yield chunk.data
        except FAILURES as error:
            raise self._received_error(error) from error
        finally:
            self.end()

    def end(self) -> None:
        """Ends the statement; cancels the stream if rows are left."""
        if not self.over and self._reader is not None:
            self._reader.cancel()  # dropping the reader would first read all remaining rows
        self.over = True

    def count(self, batch: pa.RecordBatch) -> None:
        self._rows += batch.num_rows
        self._work = Work("running", max(self._rows, self._work.rows))

    def work(self) -> Work | None:
        """Returns the progress that the server reported last; None if the statement has ended."""
        if self.over:
            return None
        if time.monotonic() - self._requested_at > INTERVAL:
            self._requested_at = time.monotonic()
            self._meanwhile("progress", self._request_progress)
        return self._work

    def cancel(self) -> None:
        """Cancels the statement on the server."""
        if not self.over:
            self._meanwhile("cancel", self._request_cancel)

    def stop(self, reason: str) -> None:
        """Cancels the statement and stops reading its rows."""
        self.cancel()
        if self._reader is not None:
            self._reader.cancel()

    def _request_progress(self) -> None:
        answer = self._wire.request("PinakesProgress", {"id": self.number}, ANSWER)
        if answer is not None:
            state, rows, *progress = answer  # older servers send two values
            self._work = Work(state, max(rows, self._work.rows), *progress[:1])

    def _request_cancel(self) -> None:
        """Repeats the request until the statement has ended: it may not have reached the server yet, or the server may
        be unreachable."""
        while not self.over:
            with suppress(ServerUnavailable):
                self._wire.request("PinakesCancel", {"id": self.number}, ANSWER)
            time.sleep(INTERVAL / 5)

    def _meanwhile(self, name: str, request: _Request) -> None:
        if name not in self._requests:
            thread = threading.Thread(target=self._attempt, args=(name, request), daemon=True, name=f"shell {name}")
            self._requests[name] = thread
            thread.start()

    def _attempt(self, name: str, request: _Request) -> None:
        try:
            request()
        except PinakesError as error:  # the statement itself reports an unreachable server
            log.debug("the server did not answer about %s", name, exc_info=error)
        finally:
            self._requests.pop(name, None)

    def _received_error(self, error: Exception) -> PinakesError:
        return broken(translated(error, self._wire.address, self.sql), self._wire.address)
