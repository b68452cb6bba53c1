"""One statement as the tracker knows it: what it is, how far it came, and how to stop it.

It is written by the thread that runs it. `cancel` and the deadline of statement_timeout interrupt the native call that
it waits in (`engine/interrupts.py`), and `check` stops it between such calls. Only a masked text comes here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import TracebackType
from typing import Literal, Protocol, TypeVar

from pinakes.core.errors import PinakesError, QueryCanceled, QueryTimeout
from pinakes.engine.interrupts import Interrupted, Interrupts

T = TypeVar("T")
Clock = Callable[[], float]
Phase = Literal["parse", "resolve", "plan", "execute"]

MEASURED = 16
"""How many batches of a result have their bytes measured before only some have: it takes longer than sending one."""


class State(StrEnum):
    QUEUED = "QUEUED"
    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


class Counted(Protocol):
    """What is counted of a batch."""

    @property
    def num_rows(self) -> int: ...

    @property
    def nbytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class QueryInfo:
    """A query as it was when asked for."""

    query_id: str
    user: str
    source: str
    shown: str
    """The text, secrets masked."""
    kind: str
    state: State
    created: datetime
    started: datetime | None
    ended: datetime | None
    seconds: Mapping[str, float]
    """Time spent per phase: parse, resolve, plan, execute."""
    rows: int
    bytes: int
    error_code: str | None
    error_message: str | None
    catalogs: tuple[str, ...]


class Query:
    """One statement that runs or ran."""

    def __init__(
        self,
        query_id: str,
        user: str,
        source: str,
        timeout: float,
        *,
        clock: Clock,
        timer: Clock,
        on_end: Callable[[Query], None],
    ) -> None:
        self.query_id = query_id
        self.user = user
        self.source = source
        self.timeout = timeout
        self.kind = ""
        self.shown = ""
        self.state = State.QUEUED
        self.rows = 0
        self.bytes = 0
        self.seconds: dict[str, float] = {}
        self.catalogs: set[str] = set()
        self.error_code: str | None = None
        self.error_message: str | None = None
        self.created = clock()
        self.started: float | None = None
        self.ended: float | None = None
        self._clock = clock
        self._timer = timer
        self._on_end = on_end
        self._lock = threading.RLock()  # a signal handler may cancel a query while its own thread holds it
        self._interrupts = Interrupts()
        self._reason: PinakesError | None = None
        self._phases = 0
        self._batches = 0
        self._row_bytes = 0.0

    # --- what is told about it ------------------------------------------------------------------------------------

    def describe(self, kind: str, shown: str) -> None:
        """What the parser found: the statement's kind and its masked text."""
        self.kind = kind
        self.shown = shown

    def phase(self, name: Phase) -> _Timed:
        """Measure a part of the way: `with query.phase("plan"): …`. Raises at its beginning if it was stopped."""
        return _Timed(self, name)

    def touch(self, catalog: str) -> None:
        """The query uses this catalog."""
        self.catalogs.add(catalog)

    def count(self, batch: Counted) -> None:
        """A batch went out. The first ones are measured, later each MEASURED-th stands for those after it."""
        rows = batch.num_rows
        if self._batches < MEASURED or self._batches % MEASURED == 0:
            self._row_bytes = batch.nbytes / rows if rows else 0.0
        self._batches += 1
        self.rows += rows
        self.bytes += round(self._row_bytes * rows)

    def end(self, error: BaseException | None = None) -> None:
        """It is over; only the first call counts. A query that was stopped ends with what stopped it."""
        with self._lock:
            if self.ended is not None:
                return
            error = self._reason or error
            if error is not None:  # its words only: the error itself would keep every frame it passed alive
                self.error_code = getattr(error, "code", "INTERNAL_ERROR")
                self.error_message = _message(error)
            self.state = _last_state(error)
            self.ended = self._clock()
        self._on_end(self)

    def info(self) -> QueryInfo:
        return QueryInfo(
            self.query_id,
            self.user,
            self.source,
            self.shown,
            self.kind,
            self.state,
            created=_moment(self.created),
            started=None if self.started is None else _moment(self.started),
            ended=None if self.ended is None else _moment(self.ended),
            seconds=dict(self.seconds),
            rows=self.rows,
            bytes=self.bytes,
            error_code=self.error_code,
            error_message=self.error_message,
            catalogs=tuple(sorted(self.catalogs)),
        )

    # --- stopping it ----------------------------------------------------------------------------------------------

    def cancel(self, reason: str = "canceled by the user") -> bool:
        """Stop it, from any thread; whether it still ran and nothing else had stopped it before."""
        return self._stop(QueryCanceled(f"query {self.query_id} was canceled: {reason}"))

    def time_out(self) -> bool:
        """Stop it because its time is over."""
        return self._stop(
            QueryTimeout(
                f"query {self.query_id} ran longer than the statement_timeout of {self.timeout:g} s and was stopped. "
                f"SET statement_timeout to more, or to 0 for no limit."
            )
        )

    def check(self) -> None:
        """Raise QueryCanceled or QueryTimeout if it was stopped."""
        if self._reason is not None:
            raise self._stopped()

    def interruptible(self, call: Callable[[], T]) -> T:
        """Run a native call that may block; when the query is stopped meanwhile, QueryCanceled or QueryTimeout comes
        out of it within about a second. Outside of any other phase, its time is that of the phase `execute`.

        A function and not a `with` block, so that the interrupt can't surface outside: see `engine/interrupts.py`.
        """
        try:
            if self._phases:
                return self._interrupts.run(call)
            with _Timed(self, "execute"):
                return self._interrupts.run(call)
        except Interrupted:
            raise self._stopped() from None

    def _stop(self, reason: PinakesError) -> bool:
        with self._lock:
            if self.ended is not None or self._reason is not None:
                return False
            self._reason = reason
        self._interrupts.stop()
        return True

    def _stopped(self) -> PinakesError:
        """A new error each time: one that is raised twice collects two tracebacks."""
        assert self._reason is not None
        return type(self._reason)(self._reason.message)


class _Timed:
    """The context manager behind `Query.phase`: a class, since it is entered several times per statement."""

    __slots__ = ("_began", "_name", "_query")

    def __init__(self, query: Query, name: Phase) -> None:
        self._query = query
        self._name = name

    def __enter__(self) -> None:
        query = self._query
        query.check()
        if query.started is None:
            query.started = query._clock()
        if query.ended is None:
            query.state = State.RUNNING if self._name == "execute" else State.PLANNING
        query._phases += 1
        self._began = query._timer()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        query = self._query
        query._phases -= 1
        spent = query._timer() - self._began
        query.seconds[self._name] = query.seconds.get(self._name, 0.0) + spent


def _last_state(error: BaseException | None) -> State:
    if error is None:
        return State.FINISHED
    if isinstance(error, QueryCanceled) or not isinstance(error, Exception):  # Ctrl-C and the like
        return State.CANCELED
    return State.FAILED


def _message(error: BaseException) -> str:
    return error.message if isinstance(error, PinakesError) else f"{type(error).__name__}: {error}"


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
