"""Running calls, and the watch over them.

A call's thread blocks in native code, so it can't see that its client has disconnected. One thread polls all calls ten
times a second and cancels the queries of canceled calls. The query's own thread is then interrupted
(`engine/execution/interrupts.py`), which drops the running plan.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from pinakes.core.errors import QueryCanceled, ServerBusy
from pinakes.engine.execution.query import Query

log = logging.getLogger(__name__)

GONE = "its client has disconnected or canceled it"
PAUSE = 0.002
INTERVAL = 0.1
"""Seconds between two checks of the running calls."""
SWEEP = 1.0
"""Seconds between two sweeps of expired objects."""


class CallContext(Protocol):
    """What a listener knows of a running call."""

    def is_cancelled(self) -> bool: ...


class Call:
    """A running call of a user and the query that it waits for."""

    __slots__ = ("_context", "_gone", "_stop", "note_message", "user")

    def __init__(self, context: CallContext, user: str, note_message: Callable[[int], None]) -> None:
        self._context, self.user = context, user
        self.note_message = note_message
        """Called with the bytes of each further message of the call, and with 0 for each that is sent."""
        self._stop: Callable[[str], object] | None = None
        self._gone = False

    def started(self, query: Query) -> None:
        """Sets the query that the call waits for."""
        self.waits_for(query.cancel)

    def waits_for(self, stop: Callable[[str], object]) -> None:
        """Sets the function that stops the operation that the call waits for."""
        self._stop = stop
        if self._gone:
            stop(GONE)

    def check_there(self, seconds: float) -> None:
        """Raises if the client has disconnected. An interrupted stream looks like a complete one, and the cancellation
        arrives a moment after the end of the stream, so this polls for `seconds`."""
        until = time.monotonic() + seconds
        while not self._context.is_cancelled():
            if time.monotonic() >= until:
                return
            time.sleep(PAUSE)
        raise QueryCanceled("the client disconnected before all its rows were received: nothing was changed")

    def look(self) -> None:
        """Stops the operation of a disconnected client."""
        self._gone = self._gone or self._context.is_cancelled()
        if self._gone and self._stop is not None:
            self._stop(GONE)


class Watch:
    """The running calls, at most `most`, since each holds a thread. One user may hold seven eighths of those that the
    others leave: a client can hold a call for as long as it likes."""

    def __init__(self, most: int, sweep: Callable[[], None]) -> None:
        self._most = most
        self._sweep = sweep
        self._lock = threading.Lock()
        self._calls: set[Call] = set()
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"pinakes-server-{name}", daemon=True)
            for name, target in (("watch", self._watching), ("sweep", self._sweeping))
        ]
        for thread in self._threads:
            thread.start()

    @contextmanager
    def over(
        self,
        context: CallContext,
        user: str,
        note_message: Callable[[int], None] = lambda _: None,
        *,
        goes_on: bool = False,
    ) -> Iterator[Call]:
        """Watches a call within the block. The context is valid only while the call runs, so it is not used afterwards.
        A call with `goes_on` was admitted before and is never rejected, since its result would be lost."""
        call = Call(context, user, note_message)
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
            raise ServerBusy(f"too many concurrent calls ({self._most}; limit most_calls): try again later")
        own = sum(call.user == user for call in self._calls)
        if own >= max(1, (self._most - len(self._calls) + own) * 7 // 8):
            raise ServerBusy(f"too many concurrent calls of this user ({own}): try again later")

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
        except Exception:  # the other calls must still be watched
            log.exception("a call could not be stopped")

    def _sweeping(self) -> None:
        """Sweeps on its own thread: closing a session may wait for a catalog."""
        while not self._closed.wait(SWEEP):
            try:
                self._sweep()
            except Exception:  # the thread must survive errors of catalogs while sessions are closed
                log.exception("what has expired could not be closed")
