"""Rows on their way to a client, and who watches over the calls that run.

A call's thread waits in native code, so it can't see that its client has gone. One thread looks after all of them: it
asks each call, ten times a second, whether it was canceled, and stops its query. The query's own thread is then
interrupted (`engine/execution/interrupts.py`), which drops the plan that runs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.flight as fl

from pinakes.core.errors import InvalidArgument, QueryCanceled
from pinakes.engine.execution.query import Query
from pinakes.flight.wire_types import conformed

log = logging.getLogger(__name__)

MOST_BYTES = 4 << 20
"""Of one message: clients of gRPC refuse what is larger than 16 MB, and some what is larger than 4."""
GONE = "its client has gone, or has canceled it"
PAUSE = 0.002
INTERVAL = 0.1
"""Seconds between two looks at the calls that run."""
SWEEP = 1.0
"""Seconds between two looks at what has expired."""


class Call:
    """A call of a user that runs, and the query that it waits for."""

    __slots__ = ("_context", "_gone", "_stop", "user")

    def __init__(self, context: fl.ServerCallContext, user: str) -> None:
        self._context, self.user = context, user
        self._stop: Callable[[str], object] | None = None
        self._gone = False

    def started(self, query: Query) -> None:
        """It waits for this query from now on."""
        self.waits_for(query.cancel)

    def waits_for(self, stop: Callable[[str], object]) -> None:
        """What stops that which it waits for from now on."""
        self._stop = stop
        if self._gone:
            stop(GONE)

    def check_there(self, seconds: float) -> None:
        """Raise when the client has gone. A stream that it did not finish looks as if it had ended, and that it was cut
        off is known a moment later than its end: so this looks for a while."""
        until = time.monotonic() + seconds
        while not self._context.is_cancelled():
            if time.monotonic() >= until:
                return
            time.sleep(PAUSE)
        raise QueryCanceled("the client has gone before all its rows had come: nothing was changed")

    def look(self) -> None:
        """Stop what a client that has gone was waiting for."""
        self._gone = self._gone or self._context.is_cancelled()
        if self._gone and self._stop is not None:
            self._stop(GONE)


class Watch:
    """The calls that run. `most` at a time: each holds a thread. One user has seven eighths at most of those that the
    others leave: a client can hold a call for as long as it likes."""

    def __init__(self, most: int, sweep: Callable[[], None]) -> None:
        self._most = most
        self._sweep = sweep
        self._lock = threading.Lock()
        self._calls: set[Call] = set()
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"pinakes-flight-{name}", daemon=True)
            for name, target in (("watch", self._watching), ("sweep", self._sweeping))
        ]
        for thread in self._threads:
            thread.start()

    @contextmanager
    def over(self, context: fl.ServerCallContext, user: str, *, goes_on: bool = False) -> Iterator[Call]:
        """Watch a call within. The context is only valid while its call runs, so nobody looks at it after this. One
        that only `goes_on` was counted before, and what it is to give out would be lost if it were refused now."""
        call = Call(context, user)
        with self._lock:
            if not goes_on:
                self._check_room(user)
            self._calls.add(call)
        try:
            yield call
        finally:
            with self._lock:
                self._calls.discard(call)

    def _check_room(self, user: str) -> None:
        if len(self._calls) >= self._most:
            raise fl.FlightUnavailableError(
                f"BUSY: this server runs {self._most} calls already, which is the most that it may; try again later"
            )
        own = sum(call.user == user for call in self._calls)
        if own >= max(1, (self._most - len(self._calls) + own) * 7 // 8):
            raise fl.FlightUnavailableError(
                f"BUSY: this server runs {own} calls of this user already, and keeps some for others; try again later"
            )

    def __len__(self) -> int:
        return len(self._calls)

    def close(self) -> None:
        self._closed.set()
        for thread in self._threads:
            thread.join()

    def _watching(self) -> None:
        while not self._closed.wait(INTERVAL):
            with self._lock:
                for call in self._calls:
                    self._look(call)

    def _look(self, call: Call) -> None:
        try:
            call.look()
        except Exception:  # the others are to be looked after, too
            log.exception("a call could not be stopped")

    def _sweeping(self) -> None:
        """On a thread of its own: to close a session may mean to wait for a catalog."""
        while not self._closed.wait(SWEEP):
            try:
                self._sweep()
            except Exception:  # the thread must outlive whatever a catalog does when its session is closed
                log.exception("what has expired could not be closed")


def received(reader: Any, call: Call, seconds: float) -> Iterator[pa.RecordBatch]:
    """The batches that a client sends, all of them or an error. Each is checked: Arrow takes offsets and indices as
    they are, also those that lead out of the memory of the batch."""
    for chunk in reader:
        if chunk.data is not None:
            try:
                chunk.data.validate(full=True)
            except pa.ArrowException as error:
                raise InvalidArgument(f"the rows that were sent are no valid Arrow data: {str(error)[:200]}") from error
            yield chunk.data
    call.check_there(seconds)


def sliced(batch: pa.RecordBatch, most: int = MOST_BYTES) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of at most so many bytes, if no single row is larger."""
    parts = -(-batch.nbytes // most)
    if parts <= 1 or batch.num_rows <= 1:
        yield batch
        return
    rows = -(-batch.num_rows // parts)
    for start in range(0, batch.num_rows, rows):
        piece = batch.slice(start, rows)
        # Rows differ in size; a piece that is still much too large is halved again.
        yield from sliced(piece, most) if piece.nbytes > 2 * most and rows < batch.num_rows else (piece,)


def as_sent(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Batches in the types and sizes of the wire."""
    for batch in batches:
        yield from sliced(conformed(batch, schema))
