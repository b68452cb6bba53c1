"""A statement that runs on Spark, on its own thread, since Spark tags statements by thread.

The rows pass through a queue of a few batches: a slow reader slows Spark down, and no rows accumulate here. When the
statement is canceled, another thread notifies Spark within a fraction of a second, also while no rows are read.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from pinakes.core.errors import PinakesError, ServerUnavailable
from pinakes.spark.errors import translated

if TYPE_CHECKING:
    from pinakes.engine.execution.query import Query
    from pinakes.spark.connect import Connected

_GLANCE = 0.1
_AHEAD = 4
"""Maximum number of queued batches."""

Answer = TypeVar("Answer")
Work = Callable[[], Iterator[pa.RecordBatch]]


class Running:
    """Runs `work` on another thread, whose statements have the query's id as their tag."""

    def __init__(self, connected: Connected, query: Query, work: Work) -> None:
        self._connected = connected
        self._query = query
        self._work = work
        self._rows: queue.Queue[pa.RecordBatch | BaseException | None] = queue.Queue(_AHEAD)
        self._left = threading.Event()
        """Set when the rows are not needed any more."""
        self._over = threading.Event()

    def batches(self) -> Iterator[pa.RecordBatch]:
        context = copy_context()
        for target in (self._run, self._watch):
            run, name = context.copy().run, f"spark-{self._query.query_id}"
            threading.Thread(target=run, args=(target,), name=name, daemon=True).start()
        try:
            while True:
                found = self._query.interruptible(self._next)
                if found is None:
                    return
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            self._left.set()

    def _next(self) -> pa.RecordBatch | BaseException | None:
        while True:
            try:
                return self._rows.get(timeout=_GLANCE)
            except queue.Empty:
                self._query.check()
                if not self._connected.is_alive() and self._rows.empty():
                    raise ServerUnavailable(
                        "the Spark that was started for this has ended. Another one is started for the next statement."
                    ) from None

    def _run(self) -> None:
        end: BaseException | None = None
        client = self._connected.spark.client
        client.add_tag(self._query.query_id)
        progress = progress_of(self._query)
        client.register_progress_handler(progress)
        try:
            for batch in self._work():
                if not self._put(batch):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again in the reading thread
            end = error if isinstance(error, PinakesError) else translated(error)
        finally:
            client.remove_progress_handler(progress)
            client.remove_tag(self._query.query_id)
            self._over.set()
            self._put(end)

    def _put(self, item: pa.RecordBatch | BaseException | None) -> bool:
        while not self._left.is_set():
            try:
                self._rows.put(item, timeout=_GLANCE)
                return True
            except queue.Full:
                continue
        return False

    def _watch(self) -> None:
        """Interrupts the statement on Spark when it is canceled or abandoned, until it has ended there."""
        while not self._over.wait(_GLANCE):
            if self._left.is_set() or self._query.is_stopped:
                try:
                    self._connected.spark.client.interrupt_tag(self._query.query_id)
                except Exception:  # noqa: BLE001 - Spark has ended: there is nothing to stop
                    return
                self._over.wait(1.0)  # it may not have started: then it is interrupted again


def call_on_spark(connected: Connected, query: Query, call: Callable[[], Answer]) -> Answer:
    """Runs a call on Spark and returns its result; canceling the query cancels it there, too."""
    found: list[Answer] = []

    def work() -> Iterator[pa.RecordBatch]:
        found.append(call())
        return iter(())

    for _ in Running(connected, query, work).batches():
        pass
    return found[0]


def progress_of(query: Query) -> Any:
    """Returns a progress handler that reports the stages and completed tasks of this thread's statement."""
    thread = threading.get_ident()

    def report(stages: Any = (), inflight_tasks: int = 0, **_: object) -> None:
        total = sum(stage.num_tasks for stage in stages or ())
        done = sum(stage.num_completed_tasks for stage in stages or ())
        if total and threading.get_ident() == thread:
            query.report(f"Spark: {done:,} of {total:,} tasks done, {inflight_tasks:,} running")

    return report
