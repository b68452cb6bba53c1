"""The whole path of a statement. Read this first.

    SQL text -> classify -> Statement -> dispatch -> handler -> Result (schema + Arrow batches)

A query's handler takes its statement through the stages of planning, each a frozen value and a function to the next:

    Statement -> Bound -> Plan -> ScanRequests -> ScanAnswers -> ExecutablePlan -> Result

`Planner.rewrite` resolves names and `Planner.bind` rewrites the text, `planning/plan.py` plans, `planning/prepare.py`
has the scans answered and plans over the answers, and `Execution.read` streams the rows. Handlers of changes and COPY
plan their query in the same way; the others call the registry or a catalog. The tracker has a record of the statement
from its start to its last row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinakes.caches.caching_catalog import STATEMENT
from pinakes.core.errors import OutOfMemory, PinakesError
from pinakes.core.waiting import CHECK
from pinakes.engine.binding.session_relations import Lookup
from pinakes.engine.datafusion.bounded_functions import bytes_of_wide_value
from pinakes.engine.datafusion.error_translation import is_panic, let_go, translate
from pinakes.engine.dispatch import dispatch
from pinakes.engine.iceberg.write.snapshot_properties import AUTHOR
from pinakes.engine.iceberg.write.write_context import writing
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.engine.transactions.defining import defining

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.engine.execution.tracker import Query
    from pinakes.engine.transactions.transaction import Transaction
    from pinakes.parser import Translated
    from pinakes.parser.statements import Statement


SPARE = 2
"""Times the longest value that was seen: later ones may be longer."""
MOST_WIDE = 1 << 34


def run(
    sql: str,
    session: Session,
    parameters: Mapping[str, Any],
    lookup: Lookup | None = None,
    started: Callable[[Query], None] | None = None,
    *,
    queues: bool = True,
) -> Result:
    timeout, is_own = session.time_limit
    query = session.engine.tracker.start(session.identity.user, session.source, timeout)
    if not is_own:
        query.timeout_from = "the timeout of this server"
    session.running.add(query)
    transaction = session.transaction
    execution = Execution(session, query, sql, parameters, lookup)
    if started is not None:
        started(query)
    translated: Translated | None = None
    with _current(query):
        try:
            with query.phase("parse"):
                statement, translated = session.read(sql)
            shown = statement.shown if statement.origin is None else statement.origin.shown
            query.describe(statement.kind, shown if translated is None else translated.said)
            if translated is not None:
                execution = replace(execution, text=statement.text)
            if transaction is not None:
                transaction.check(statement.kind)
            if queues and session.engine.admission is not None:
                _admit(statement, session, query)
            result = _carried_out(statement, execution)
        except BaseException as error:
            typed = translate(error) if isinstance(error, Exception) or is_panic(error) else error
            if translated is not None and isinstance(typed, PinakesError):
                translated.relocate(typed)
            query.end(typed)
            if transaction is not None:  # the one that it began in; another thread may have begun the next
                transaction.abort()
            execution.scope.close()
            let_go(error)
            if typed is error:
                raise
            raise typed from error
    if result.kind != "rows":
        query.wrote(result.count)
        query.end()  # it is done, whenever the result is looked at
    ending = _ending(query, execution.scope, transaction)
    return result.watch(on_batch=query.count, on_end=ending, stop=query.cancel)


@contextmanager
def _current(query: Query) -> Iterator[None]:
    """Makes it the statement of this thread: what waits checks whether it was stopped, and logs and commits name it."""
    statement, check = STATEMENT.set(query), CHECK.set(query.check)
    author = AUTHOR.set((query.user, query.query_id))
    try:
        yield
    finally:
        STATEMENT.reset(statement)
        CHECK.reset(check)
        AUTHOR.reset(author)


def _carried_out(statement: Statement, execution: Execution) -> Result:
    """The statement's result. A statement whose values are too long for its batches is run again with batches of fewer
    rows, unless some of its rows were read already."""
    query, session = execution.query, execution.session
    try:
        if statement.kind == "Query":  # it writes nothing
            result = dispatch(statement, execution)
        else:
            spill_dir = session.engine.config.engine.spill_dir
            with writing(execution, spill_dir), defining(statement, session.warn):
                result = dispatch(statement, execution)
    except OutOfMemory as error:
        return _narrower(statement, execution, error)
    if result.kind != "rows":
        return result

    def batches(first: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            batch = next(first, None)
        except OutOfMemory as error:
            with _current(query):
                narrower = _narrower(statement, execution, error)
            yield from narrower
            return
        if batch is not None:
            yield batch
            yield from first

    return result.through(batches)


def _narrower(statement: Statement, execution: Execution, error: OutOfMemory) -> Result:
    """The result with batches for such values. Each time these are much longer than the last, so there is an end."""
    seen = bytes_of_wide_value(error)
    size = max(seen or 0, execution.wide) * SPARE
    if seen is None or size > MOST_WIDE:
        raise error
    execution.query.check()
    return _carried_out(statement, replace(execution, wide=size))


def _admit(statement: Statement, session: Session, query: Query) -> None:
    """Wait for its turn, unless it is one that need not."""
    from pinakes.engine.execution.queue_bypass import is_light

    assert session.engine.admission is not None
    if not is_light(statement, session):
        session.engine.admission.enter(query)


def _ending(query: Query, scope: ExitStack, transaction: Transaction | None) -> Callable[[BaseException | None], None]:
    """What is to be done when the last row was read; an error among the rows aborts the transaction, too."""

    def end(error: BaseException | None) -> None:
        scope.close()
        if transaction is not None:
            if error is not None:
                transaction.abort()
            transaction.used()
        query.end(error)

    return end
