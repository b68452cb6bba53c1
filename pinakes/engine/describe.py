"""What a statement will give and what it takes, without carrying it out: for clients that prepare before they run.

A query is planned, unless its plan is cached. SHOW, DESCRIBE and EXPLAIN are run, and their rows are left
unread. Of a statement that changes something only the parameters are looked for (`engine/planning/parameters.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

import pyarrow as pa

from pinakes.core.errors import NotSupportedError, PinakesError, PreparedNotFound
from pinakes.core.waiting import CHECK
from pinakes.engine.commands.queries import parameter_names, with_values
from pinakes.engine.datafusion.error_translation import is_panic, let_go, translate
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.dispatch import dispatch, in_user_text
from pinakes.engine.execution.query import Query
from pinakes.engine.planning.parameters import types_in_change, types_in_plan
from pinakes.engine.planning.plan_cache import known_schema
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser import Translated
from pinakes.parser import statements as s

LOOKS = frozenset(
    {
        "Describe", "Explain", "ExplainFull", "Search", "ShowCaches", "ShowCatalogs", "ShowColumns", "ShowCreate",
        "ShowCurrent", "ShowFunctions", "ShowNamespaces", "ShowSecrets", "ShowSession", "ShowStats", "ShowTables",
        "ShowViews", "Summarize",
    }
)  # fmt: skip
"""Kinds of statements that change nothing and whose rows wait to be read."""
_COUNT = pa.schema([("count", pa.int64())])


class Description(NamedTuple):
    statement: s.Statement
    schema: pa.Schema | None
    """The schema of the rows; None if there are none or it is unknown before the statement runs."""
    parameters: pa.Schema
    """One field for each, in order, under its name; `null` where the type is unknown."""

    @property
    def is_update(self) -> bool:
        return self.schema is None


def describe(session: Session, sql: str, started: Callable[[Query], None] | None = None) -> Description:
    """An error aborts the transaction, except that the statement is not supported: some clients then send it again, to
    be run, and have to hear the same. For those that do not, the caller aborts it."""
    timeout, is_own = session.time_limit
    query = session.engine.tracker.aside(session.identity.user, session.source, timeout)
    if not is_own:
        query.timeout_from = "the timeout of this server"
    session.running.add(query)
    checking = CHECK.set(query.check)
    transaction = session.transaction
    translated: Translated | None = None
    if started is not None:
        started(query)
    try:
        statement, translated = session.read(sql)
        text = sql if translated is None else statement.text
        with ExitStack() as scope:
            return _described(statement, Execution(session, query, text, unbound=True, scope=scope))
    except BaseException as error:
        let_go(error)
        typed = translate(error) if isinstance(error, Exception) or is_panic(error) else error
        if translated is not None and isinstance(typed, PinakesError):
            translated.relocate(typed)
        if transaction is not None and not isinstance(typed, NotSupportedError):
            transaction.abort()
        if typed is error:
            raise
        raise typed from error
    finally:
        CHECK.reset(checking)
        query.end()


def _described(statement: s.Statement, execution: Execution) -> Description:
    execution.session.guard.statement(statement)
    if isinstance(statement, s.Planned) and "(" in statement.text:
        from pinakes.engine.binding.sql_functions import expanded_statement, positions_before

        expanded = expanded_statement(statement, execution.session, execution.resolver)
        if expanded is not None:
            with positions_before(expanded.text):
                found = _described_as(expanded.statement, parameter_names(statement), execution)
            return found._replace(statement=statement)
    return _described_as(statement, parameter_names(statement), execution)


def _described_as(statement: s.Statement, names: list[str], execution: Execution) -> Description:
    statement = with_values(statement, execution)
    with in_user_text(statement):
        return _read(statement, names, execution)


def _read(statement: s.Statement, names: list[str], execution: Execution) -> Description:
    known = known_schema(statement, execution) if isinstance(statement, s.Query) and not names else None
    if known is not None:
        return Description(statement, known, pa.schema([]))
    if isinstance(statement, s.Query):
        frame = execution.planner().query(statement, is_result=True).frame
        types = types_in_plan(frame) if names else {}
        return Description(statement, schema_of(frame), _fields(names, types))
    if isinstance(statement, s.Execute):
        return _prepared(statement, execution)
    types = types_in_change(statement, execution) if names else {}
    return Description(statement, _schema(statement, execution), _fields(names, types))


def _fields(names: list[str], types: dict[str, pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(name, types.get(name, pa.null())) for name in names])


def _schema(statement: s.Statement, execution: Execution) -> pa.Schema | None:
    match statement:
        case s.Insert() | s.Update() | s.Delete() | s.Merge():
            if statement.returned is None:
                return _COUNT if statement.returning else None
            from pinakes.engine.iceberg.write.returning import schema_returned

            return schema_returned(statement, execution)
        case s.CopyFrom(into=True):
            from pinakes.engine.commands.copy import REPORT

            return REPORT
        case s.Call():
            from pinakes.engine.procedures.call import columns_of

            return columns_of(statement, execution)
        case s.TableExecute():
            from pinakes.engine.commands.maintenance import procedure_executed

            return procedure_executed(statement).columns
    if statement.kind not in LOOKS:
        return None
    result = dispatch(statement, execution)
    result.close()
    return result.schema


def _prepared(statement: s.Execute, execution: Execution) -> Description:
    """EXECUTE gives what its prepared statement gives; its own arguments are expressions."""
    prepared = execution.session.prepared
    if statement.name.exact not in prepared:
        raise PreparedNotFound(f"prepared statement '{statement.name.exact}' does not exist")
    inner = execution.session.engine.caches.statements.classify(prepared[statement.name.exact])
    return Description(statement, _described(inner, execution).schema, pa.schema([]))
