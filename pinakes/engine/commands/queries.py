"""SELECT and VALUES, prepared statements, and KILL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pinakes.core.engines import LOCAL
from pinakes.core.errors import AlreadyExistsError, InvalidArgument, PinakesError, PreparedNotFound, listing
from pinakes.engine.dispatch import dispatch
from pinakes.engine.execution.result_cache import cache_result, cached_result
from pinakes.engine.execution.stale_file_retry import forget_missing_files, plan_with_retry
from pinakes.engine.planning.plan_cache import cached_or_new_plan, key_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.transactions.defining import defining
from pinakes.parser import classify
from pinakes.parser.statements import Planned

if TYPE_CHECKING:
    from pinakes.parser.statements import Deallocate, Execute, Kill, Pivot, Prepare, Query, Statement

MAX_PARAMETER = 65_535
"""The highest number of a parameter."""


def query(statement: Query, execution: Execution) -> Result:
    """SELECT [DISTINCT] … [FROM …] [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n] [OFFSET n], VALUES (…), …,
    optionally after WITH name AS (query), …: returns rows as a stream. A table can be a file: FROM 'x.csv'.

    DataFusion plans and runs the query, or another engine does (SET engine).
    """
    if execution.engine.engine != LOCAL:
        from pinakes.engine.remote.query import remote_query

        remote = remote_query(statement, execution)
        if remote is not None:
            return remote
    key = key_of(statement, statement.text, execution)
    found, reads = plan_with_retry(lambda reads: cached_or_new_plan(statement, key, execution, reads))
    result = Result(found.plan.schema, forget_missing_files(execution.read(found.plan, checked=True), reads))
    if key is None or found.versions is None or not execution.session.settings.result_cache:
        return result
    cache = execution.session.engine.caches.results
    known = cached_result(cache, key, found.versions)
    if known is not None:
        return known
    return cache_result(result, cache, key, found.versions, found.mounts)


def pivot(statement: Pivot, execution: Execution) -> Result:
    """PIVOT table ON column [IN (values)] [USING aggregate [AS alias], …] [GROUP BY columns] [ORDER BY …] [LIMIT n]:
    a column for each value. Without IN the values are those of the column when the statement starts.
    """
    inner = with_values(statement, execution)
    with defining(inner, execution.session.warn):
        return dispatch(inner, execution)


def with_values(statement: Statement, execution: Execution) -> Statement:
    """Returns a statement with the values of the columns that its PIVOTs have without IN."""
    while statement.kind == "Pivot":
        pivot = cast("Pivot", statement)
        try:
            found = dispatch(execution.session.engine.caches.statements.classify(pivot.question), execution)
            answer = tuple(str(value) for batch in found for value in batch.column(0).to_pylist())
        except PinakesError as error:
            error.position = None  # it is of the query for the values
            raise
        statement = classify(pivot.text, (*pivot.answers, answer))
    return statement


def prepare(statement: Prepare, execution: Execution) -> Result:
    """PREPARE name AS statement: stores a statement with parameters ? or $1 for this session. EXECUTE runs it."""
    session = execution.session
    body = statement.body.of(statement.text)
    session.engine.caches.statements.classify(body)
    name = statement.name.exact
    if name in session.prepared:
        raise AlreadyExistsError(f"prepared statement '{name}' already exists. DEALLOCATE it first.")
    if session.prepared_memory is not None:
        session.prepared_memory.grow(_memory_of(name, body))
    session.prepared[name] = body
    return Result.done("PREPARE")


def execute(statement: Execute, execution: Execution) -> Result:
    """EXECUTE name (arguments): runs a prepared statement with the given arguments."""
    session = execution.session
    name = statement.name.exact
    if name not in session.prepared:
        raise PreparedNotFound(f"prepared statement '{name}' does not exist; available: {listing(session.prepared)}")
    body = session.prepared[name]
    inner = session.engine.caches.statements.classify(body)
    names = parameter_names(inner)
    if isinstance(inner, Planned) and inner.parsed and len(names) != len(statement.arguments):
        raise InvalidArgument(f"'{name}' takes {len(names)} arguments and was given {len(statement.arguments)}")
    values = _argument_values(statement, execution)
    parameters = dict(zip(names or map(str, range(1, len(values) + 1)), values, strict=True))
    with defining(inner, session.warn):
        return dispatch(inner, replace(execution, text=body, parameters=parameters))


def parameter_names(inner: Statement) -> list[str]:
    """The parameters in the order of their arguments: $1 to the highest number, or names by first occurrence."""
    found = [p.name for p in inner.placeholders] if isinstance(inner, Planned) else []
    if found and all(n.isdigit() for n in found):
        highest = max(map(int, found))
        if highest > MAX_PARAMETER:
            raise InvalidArgument(
                f"parameters are numbered from $1 to ${MAX_PARAMETER} at most, and there is ${highest}"
            )
        return [str(n) for n in range(1, highest + 1)]
    return list(dict.fromkeys(found))


def _argument_values(statement: Execute, execution: Execution) -> list[Any]:
    """The values of the arguments, which are expressions, as Arrow scalars."""
    if not statement.arguments:
        return []
    text = ", ".join(f"{span.of(statement.text)} AS p{i}" for i, span in enumerate(statement.arguments))
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Planned):
        raise InvalidArgument("the arguments of EXECUTE must be expressions")
    row = execution.collect(execution.planner().query(source))
    return [column[0] for column in row.columns]


def deallocate(statement: Deallocate, execution: Execution) -> Result:
    """DEALLOCATE name | ALL"""
    session = execution.session
    names = list(session.prepared) if statement.name is None else [statement.name.exact]
    for name in names:
        body = session.prepared.pop(name, None)
        if body is None:
            raise PreparedNotFound(
                f"prepared statement {statement.name or name} does not exist; available: {listing(session.prepared)}"
            )
        if session.prepared_memory is not None:
            session.prepared_memory.grow(-_memory_of(name, body))
    return Result.done("DEALLOCATE")


def _memory_of(name: str, body: str) -> int:
    """The bytes of a prepared statement. A name and a text have some for themselves."""
    return 4 * (len(name) + len(body)) + 500


def kill(statement: Kill, execution: Execution) -> Result:
    """KILL [QUERY] 'id': cancels a running statement. Administrators can cancel statements of all users."""
    from pinakes.engine.execution.kill import kill_query

    kill_query(execution.session, statement.query_id)
    return Result.done("KILL")
