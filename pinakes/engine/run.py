"""The whole path of a statement. Read this first.

    SQL text -> classify -> Statement -> dispatch -> handler -> Result (schema + Arrow batches)

A query's handler gives its plan to DataFusion (`planner.py`) and its rows stream; every other handler goes straight
to the registry or a catalog. The tracker knows the statement from its first moment to its last row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pinakes.caches.caching import STATEMENT
from pinakes.core.waiting import CHECK
from pinakes.engine.binding.session_relations import Lookup
from pinakes.engine.datafusion.error_translation import is_panic, let_go, translate
from pinakes.engine.dispatch import dispatch
from pinakes.engine.iceberg.write.snapshot_properties import authored
from pinakes.engine.iceberg.write.write_context import writing
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.engine.transactions.defining import defining

if TYPE_CHECKING:
    from pinakes.engine.execution.tracker import Query
    from pinakes.engine.pushdown.scan_pushdown import Plans
    from pinakes.engine.transactions.transaction import Transaction
    from pinakes.parser.statements import Statement


def run(
    sql: str,
    session: Session,
    parameters: Mapping[str, Any],
    lookup: Lookup | None = None,
    started: Callable[[Query], None] | None = None,
    *,
    queues: bool = True,
) -> Result:
    query = _begun(session)
    session.running.add(query)
    asking, checking = STATEMENT.set(query), CHECK.set(query.check)
    transaction = session.transaction
    execution = Execution(session, query, sql, parameters, lookup)
    if started is not None:
        started(query)
    try:
        with query.phase("parse"):
            statement = session.engine.caches.statements.classify(sql)
        query.describe(statement.kind, statement.shown)
        if transaction is not None:
            transaction.check(statement.kind)
        if queues and session.engine.admission is not None:
            _admit(statement, session, query)
        spill_dir = session.engine.config.engine.spill_dir
        with (
            authored(query.user, query.query_id),
            writing(query.interruptible, spill_dir),
            defining(statement, session.warn),
        ):
            result = dispatch(statement, execution)
    except BaseException as error:
        typed = translate(error) if isinstance(error, Exception) or is_panic(error) else error
        query.end(typed)
        if transaction is not None:  # the one that it began in; another thread may have begun the next
            transaction.abort()
        execution.plans.forget()
        let_go(error)
        if typed is error:
            raise
        raise typed from error
    finally:
        STATEMENT.reset(asking)
        CHECK.reset(checking)
    if result.kind != "rows":
        query.wrote(result.count)
        query.end()  # it is done, whenever the result is looked at
    ending = _ending(query, execution.plans, transaction)
    return result.watch(on_batch=query.count, on_end=ending, stop=query.cancel)


def _begun(session: Session) -> Query:
    """What the tracker has of it. A server may allow less time than the session does."""
    timeout, is_own = session.time_limit
    query = session.engine.tracker.start(session.identity.user, session.source, timeout)
    if not is_own:
        query.timeout_from = "the timeout of this server"
    return query


def _admit(statement: Statement, session: Session, query: Query) -> None:
    """Wait for its turn, unless it is one that need not."""
    from pinakes.engine.execution.queue_bypass import is_light

    assert session.engine.admission is not None
    if not is_light(statement, session):
        session.engine.admission.enter(query)


def _ending(query: Query, plans: Plans, transaction: Transaction | None) -> Callable[[BaseException | None], None]:
    """What is to be done when the last row was read; an error among the rows aborts the transaction, too."""

    def end(error: BaseException | None) -> None:
        plans.forget()
        if transaction is not None:
            if error is not None:
                transaction.abort()
            transaction.used()
        query.end(error)

    return end
