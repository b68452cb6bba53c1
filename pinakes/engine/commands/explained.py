"""Which query EXPLAIN and EXPLAIN FULL explain: the one given, or the one in an INSERT, CREATE TABLE AS or COPY."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CopyTo, CreateTableAs, Explain, ExplainFull, Insert, Query, Span


def query_in(statement: Explain | ExplainFull, execution: Execution) -> Span:
    """Where the query stands in the statement's text. What would change something is never carried out."""
    full = " FULL" if isinstance(statement, ExplainFull) else ""
    inner = execution.session.engine.caches.statements.classify(statement.body.of(statement.text))
    execution.session.guard.statement(inner)
    if isinstance(inner, Query):
        return statement.body
    body = inner.body if isinstance(inner, Insert | CreateTableAs | CopyTo) else None
    if body is None or (isinstance(inner, CopyTo) and inner.text[body.start] != "("):  # of a table, without a query
        raise NotSupportedError(
            f"EXPLAIN{full} of {inner.kind} is not supported: EXPLAIN{full} a query, or an INSERT, CREATE TABLE AS or "
            f"COPY … TO that has one"
        )
    if statement.analyze:
        raise NotSupportedError(
            f"EXPLAIN ANALYZE{full} of {inner.kind} is not supported, for it would carry it out: explain the query in "
            f"it, or leave out ANALYZE"
        )
    return Span(statement.body.start + body.start, statement.body.start + body.end)
