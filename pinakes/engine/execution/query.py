"""One statement as the tracker knows it: what it is, how far it came, and how to stop it.

It is written by the thread that runs it. `cancel` and the deadline of statement_timeout interrupt the native call that
it waits in (`engine/execution/interrupts.py`), and `check` stops it between such calls. Only a masked text comes here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, Protocol, TypeVar, get_args

from pinakes.core.errors import OutOfMemory, PinakesError, QueryCanceled, QueryTimeout
from pinakes.engine.datafusion.plan_metrics import NO_WORK, Work
from pinakes.engine.execution.interrupts import Interrupted, Interrupts
from pinakes.engine.execution.query_info import QueryInfo, State

T = TypeVar("T")
Clock = Callable[[], float]
Phase = Literal["parse", "resolve", "plan", "prune", "execute"]
PHASES: tuple[Phase, ...] = get_args(Phase)

MEASURED = 16
"""How many batches of a result have their bytes measured before only some have: it takes longer than sending one."""


class Counted(Protocol):
    """What is counted of a batch."""

    @property
    def num_rows(self) -> int: ...

    @property
    def nbytes(self) -> int: ...


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
        self.written: int | None = None
        self.plan: str | None = None
        self.progress = ""
        self.engine = "local"
        self.error_code: str | None = None
        self.error_message: str | None = None
        self.created = clock()
        self.started: float | None = None
        self.ended: float | None = None
        self._clock = clock
        self._timer = timer
        self._on_end = on_end
        self.on_release: Callable[[], None] = _nothing
        """Called once, when it is over: it held a place that another may have."""
        self.timeout_from = "the statement_timeout"
        self._lock = threading.RLock()  # a signal handler may cancel a query while its own thread holds it
        self._interrupts = Interrupts()
        self._reason: PinakesError | None = None
        self._phases: list[_Timed] = []
        self._work = NO_WORK
        self._working: list[Callable[[], Work]] = []
        self._batches = 0
        self._row_bytes = 0.0

    # --- what it reports ------------------------------------------------------------------------------------------

    def describe(self, kind: str, shown: str) -> None:
        """What the parser found: the statement's kind and its masked text."""
        self.kind = kind
        self.shown = shown

    def queue(self) -> None:
        """It was read, and waits for its turn: it has not begun."""
        self.started, self.state = None, State.QUEUED

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

    def planned(self, summary: str) -> None:
        """The shape of its plan; of several plans, the first is the statement's own."""
        self.plan = self.plan or summary

    def report(self, progress: str) -> None:
        """How far another engine is with it, in words."""
        self.progress = progress

    def wrote(self, rows: int | None) -> None:
        """So many rows were changed."""
        self.written = rows

    def works(self, measure: Callable[[], Work]) -> None:
        """A plan starts; `measure` returns its work so far, until `worked` ends it."""
        self._working.append(measure)

    def worked(self, measure: Callable[[], Work]) -> None:
        done = measure()
        with self._lock:
            self._working.remove(measure)
            self._work += done

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
        self.on_release()

    def info(self) -> QueryInfo:
        now = self._timer()
        with self._lock:
            work = sum((measure() for measure in self._working), self._work)
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
            elapsed=(self._clock() if self.ended is None else self.ended) - self.created,
            seconds=self._spent(now),
            rows=self.rows,
            bytes=self.bytes,
            written=self.written,
            work=work,
            plan=self.plan,
            engine=self.engine,
            progress=self.progress if self.ended is None else "",
            error_code=self.error_code,
            error_message=self.error_message,
            catalogs=tuple(sorted(self.catalogs)),
        )

    def _spent(self, now: float) -> dict[str, float]:
        """Seconds per phase, with those that it is in now: an inner one has stopped the clock of the outer."""
        spent, ends = dict(self.seconds), now
        for timed in reversed(list(self._phases)):
            spent[timed.name] = spent.get(timed.name, 0.0) + max(0.0, ends - timed.began - timed.within)
            ends = timed.began
        return spent

    # --- stopping it ----------------------------------------------------------------------------------------------

    def cancel(self, reason: str = "canceled by the user") -> bool:
        """Stop it, from any thread; whether it still ran and nothing else had stopped it before."""
        return self._stop(QueryCanceled(f"query {self.query_id} was canceled: {reason}"))

    def time_out(self) -> bool:
        """Stop it because its time is over."""
        return self._stop(
            QueryTimeout(
                f"query {self.query_id} ran longer than {self.timeout_from} of {self.timeout:g} s and was stopped. "
                f"{self._longer()}"
            )
        )

    def exhaust(self, used: int, limit: int) -> bool:
        """Stop it because the process takes too much memory."""
        return self._stop(
            OutOfMemory(
                f"query {self.query_id} was stopped, since the server takes {used:,} bytes of memory and may have "
                f"{limit:,} (process_memory in [server]): ask for less at a time, or SET batch_size lower"
            )
        )

    def _longer(self) -> str:
        if self.timeout_from == "the statement_timeout":
            return "SET statement_timeout to more, or to 0 for no limit."
        return "Ask for less at a time, or have timeout in [server.statements] of the configuration changed."

    @property
    def is_stopped(self) -> bool:
        """Whether it was canceled, or its time is over."""
        return self._reason is not None

    def check(self) -> None:
        """Raise QueryCanceled or QueryTimeout if it was stopped."""
        if self._reason is not None:
            raise self._stopped()

    def interruptible(self, call: Callable[[], T]) -> T:
        """Run a native call that may block; when the query is stopped meanwhile, QueryCanceled or QueryTimeout comes
        out of it within about a second. Outside of any other phase, its time is that of the phase `execute`.

        A function and not a `with` block, so that the interrupt can't surface outside: see
        `engine/execution/interrupts.py`.
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

    __slots__ = ("_query", "began", "name", "within")

    def __init__(self, query: Query, name: Phase) -> None:
        self._query = query
        self.name = name
        self.began = 0.0
        self.within = 0.0
        """Seconds that phases within this one took: they are not its own."""

    def __enter__(self) -> None:
        query = self._query
        if query._reason is not None:
            query.check()
        if query.started is None:
            query.started = query._clock()
        if query.ended is None:
            query.state = State.RUNNING if self.name == "execute" else State.PLANNING
        self.began = query._timer()
        query._phases.append(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        query = self._query
        query._phases.remove(self)
        spent = query._timer() - self.began
        query.seconds[self.name] = query.seconds.get(self.name, 0.0) + spent - self.within
        if query._phases:
            query._phases[-1].within += spent


def _nothing() -> None:
    """For a query that held no place."""


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
