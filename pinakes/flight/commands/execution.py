"""Execution of a client's statement. GetFlightInfo runs it once; its rows are pending until DoGet fetches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from pinakes.api.executemany import all_or_none, names_in, only_row, selecting
from pinakes.core.errors import InvalidArgument
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.flight.commands.base import Answer
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, pack
from pinakes.parser.statements import Insert
from pinakes.server.connections import Connection, PendingResult, Prepared
from pinakes.server.limits import check_text

MOST_EXECUTIONS = 1_000
"""Maximum number of parameter rows of one query."""


def run(
    request: FlightRequest,
    connection: Connection,
    sql: str,
    parameters: Mapping[str, pa.Scalar] | None = None,
    *,
    queues: bool = True,
) -> Result:
    request.service.check_taking(connection)
    check_text(sql, request)
    return connection.session.run(sql, parameters, started=request.call.started, queues=queues)


def park(request: FlightRequest, result: Result) -> Answer:
    """Registers the pending result and returns its ticket. A result without rows gets a ticket, too: a FlightInfo
    without endpoints confuses the JDBC driver."""
    schema = request.client.schema(result.schema)
    handle = request.service.pending.put(PendingResult(request.connection, result, schema, request.memory.take()))
    ticket = pack(message("TicketStatementQuery")(statement_handle=handle))
    return Answer(schema, ticket, -1 if result.count is None else result.count)


def execute(request: FlightRequest, prepared: Prepared) -> Result:
    """Runs a prepared statement with its bound parameters."""
    sql, names, bound = prepared.sql, prepared.description.parameters.names, prepared.bound
    if names and bound is None:
        raise InvalidArgument(f"the statement takes {len(names)} parameters, and none was bound to it")
    executions = 1 if bound is None else bound.num_rows
    if bound is not None:
        request.memory.grow(bound.nbytes)  # the plan has copies of the values
    if executions == 1:
        return run(request, prepared.connection, sql, prepared.parameters(0))
    if prepared.description.is_update:
        assert bound is not None
        return Result.done("EXECUTE", change_many(request, prepared, bound))
    return _query_each(request, prepared, executions)


def _query_each(request: FlightRequest, prepared: Prepared, executions: int) -> Result:
    if not 0 < executions <= MOST_EXECUTIONS:
        raise InvalidArgument(f"a query is run for 1 to {MOST_EXECUTIONS} rows of parameters, and {executions} came")
    results: list[Result] = []
    try:
        for row in range(executions):
            # Only the first execution waits for admission: if each held a slot, one call could wait for itself.
            result = run(request, prepared.connection, prepared.sql, prepared.parameters(row), queues=row == 0)
            results.append(result)  # appended one by one: a failure closes those before it
        schema = _common_schema([result.schema for result in results])
    except BaseException:
        _each(results, Result.close)
        raise
    batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in chain.from_iterable(results))
    return Result(schema, batches).watch(
        on_batch=lambda _: None,
        on_end=lambda _: _each(results, Result.close),
        stop=lambda reason: _each(results, lambda result: result.stop(reason)),
    )


def _each(results: Iterable[Result], do: Callable[[Result], object]) -> None:
    for result in results:
        do(result)


def _common_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Returns the common schema. A column is nullable if it is nullable in one of the schemas."""
    if any((other.names, other.types) != (schemas[0].names, schemas[0].types) for other in schemas):
        raise InvalidArgument("the rows of parameters have different types of results: run the query for each alone")
    columns = zip(*schemas, strict=True)
    return pa.schema([same[0].with_nullable(any(field.nullable for field in same)) for same in columns])


def change_many(request: FlightRequest, prepared: Prepared, rows: pa.Table) -> int | None:
    """Runs a change for each row of parameters. INSERT … VALUES inserts all rows with one statement; others run one by
    one, in a transaction where the catalog supports it."""
    connection, statement = prepared.connection, prepared.description.statement
    row = only_row(statement)
    if isinstance(statement, Insert) and row is not None and rows.num_rows > 0:
        from pinakes.engine.datafusion.memory_sources import Rows

        with connection.session.temporary.brought(Rows(rows.select(names_in(statement)))) as source:
            return run(request, connection, selecting(statement, row, source)).count
    request.service.check_taking(connection)
    with all_or_none(connection.session, statement, rows.num_rows) as within:
        return _change_each(request, within, replace(prepared, bound=rows))


def _change_each(request: FlightRequest, session: Session, prepared: Prepared) -> int | None:
    assert prepared.bound is not None
    counts = []
    for row in range(prepared.bound.num_rows):
        result = session.run(prepared.sql, prepared.parameters(row), started=request.call.started)
        result.close()
        counts.append(result.count)
    known = [count for count in counts if count is not None]
    return sum(known) if known or not counts else None
