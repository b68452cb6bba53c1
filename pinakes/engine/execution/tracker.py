"""The query tracker: every statement from its first moment to its last row, and for a while after.

`engine/execution/query.py` is the record of one; here they are kept, numbered and, when their time is over, stopped.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count

from pinakes.engine.execution.deadlines import Deadline, Deadlines
from pinakes.engine.execution.query import Clock, Query
from pinakes.engine.execution.query_info import QueryInfo, State

__all__ = ["Query", "QueryInfo", "QueryTracker", "State"]


LONGEST = 100_000
"""Characters of the text that are kept of a query which has ended."""


class QueryTracker:
    """All queries that run, and of those that ended the last `queries` that are no older than `age` seconds."""

    def __init__(
        self, queries: int = 1000, age: float = 3600.0, *, clock: Clock = time.time, timer: Clock = time.perf_counter
    ) -> None:
        self._clock = clock
        self._timer = timer
        self._most = queries
        self._age = age
        self._lock = threading.Lock()
        self._running: dict[str, Query] = {}
        self._past: deque[Query] = deque()
        self._over: deque[Query] = deque()
        self._deadlines = Deadlines()
        self._timed: dict[str, Deadline] = {}
        self._ids = _QueryIds(clock)
        self._on_end: Callable[[Query], None] = _nothing

    def add_listener(self, on_end: Callable[[Query], None]) -> None:
        """Call `on_end` with each query at its end. It is called under a lock, perhaps by the garbage collector, so it
        must be quick, must not raise, and must not wait."""
        self._on_end = on_end

    def start(self, user: str, source: str = "", timeout: float = 0.0) -> Query:
        """A statement has come in; with a time-out it is stopped after so many seconds."""
        on_end = self._ended
        query = Query(self._ids.new(), user, source, timeout, clock=self._clock, timer=self._timer, on_end=on_end)
        with self._lock:
            self._running[query.query_id] = query
            if timeout > 0:
                self._timed[query.query_id] = self._deadlines.set(timeout, query.time_out)
        self._settle(wait=False)
        return query

    def aside(self, user: str, source: str = "", timeout: float = 0.0) -> Query:
        """A query record for a request that is not a statement: it can be cancelled, and is not kept."""
        made: list[Deadline] = []

        def on_end(_: Query) -> None:
            for deadline in made:
                self._deadlines.withdraw(deadline)

        query = Query("", user, source, timeout, clock=self._clock, timer=self._timer, on_end=on_end)
        if timeout > 0:
            made.append(self._deadlines.set(timeout, query.time_out))
        return query

    def running(self, query_id: str) -> Query | None:
        """The query of this id, if it runs."""
        return self._running.get(query_id)

    def alive(self) -> list[Query]:
        """Those that wait or run."""
        self._settle(wait=True)
        with self._lock:
            return [query for query in self._running.values() if query.ended is None]

    def snapshot(self) -> list[QueryInfo]:
        """All known queries in the order of their ids."""
        self._settle(wait=True)
        with self._lock:
            self._forget_old()
            known = [*self._past, *self._running.values()]
        return [query.info() for query in sorted(known, key=lambda q: q.query_id)]

    def close(self) -> None:
        """Stop what runs, and the thread of the deadlines."""
        for query in list(self._running.values()):
            query.cancel("the engine was closed")
        self._deadlines.close()

    def _ended(self, query: Query) -> None:
        """The garbage collector may call this at any moment, for a result that was not read, also while this thread
        holds the lock; then the query waits until the lock is free."""
        self._over.append(query)
        self._settle(wait=False)

    def _settle(self, *, wait: bool) -> None:
        while self._over and self._lock.acquire(blocking=wait):
            try:
                while self._over:
                    self._file(self._over.popleft())
            finally:
                self._lock.release()

    def _file(self, query: Query) -> None:
        del self._running[query.query_id]
        if len(query.shown) > LONGEST:
            query.shown = query.shown[:LONGEST] + " …"
        self._past.append(query)
        self._on_end(query)
        self._forget_old()
        deadline = self._timed.pop(query.query_id, None)
        if deadline is not None:
            self._deadlines.withdraw(deadline)

    def _forget_old(self) -> None:
        oldest = self._clock() - self._age
        while self._past and (len(self._past) > self._most or (self._past[0].ended or 0.0) < oldest):
            self._past.popleft()


def _nothing(query: Query) -> None:
    """The default of `on_end`: does nothing."""


class _QueryIds:
    """Ids that sort by time: 20261116_053650_00001_abcde; the last part is one per process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = count(1)
        self._prefix = (-1, "")
        self._suffix = "".join("abcdefghijkmnpqrstuvwxyz23456789"[byte % 32] for byte in os.urandom(5))

    def new(self) -> str:
        second, prefix = self._prefix
        now = int(self._clock())
        if now != second:
            prefix = time.strftime("%Y%m%d_%H%M%S", time.gmtime(now))
            self._prefix = (now, prefix)
        return f"{prefix}_{next(self._numbers):05d}_{self._suffix}"
