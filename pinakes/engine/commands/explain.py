"""EXPLAIN and EXPLAIN FULL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.engine.planning.prepare import prepare
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CopyTo, CreateTableAs, Explain, ExplainFull, Insert, Query, Span

if TYPE_CHECKING:
    from pinakes.engine.explain.collect import Explaining
    from pinakes.engine.planning.optimize.compute import Computed

_PLAN_FORMATS = {
    "TEXT": "indent",
    "INDENT": "indent",
    "TREE": "tree",
    "JSON": "pgjson",
    "PGJSON": "pgjson",
    "GRAPHVIZ": "graphviz",
}


def explain(statement: Explain, execution: Execution) -> Result:
    """EXPLAIN [ANALYZE] [VERBOSE] query: shows the plan of a query. ANALYZE runs the query and shows rows and time of
    each step.

    The result is DataFusion's plan, one row per plan type. For INSERT, CREATE TABLE AS and COPY (query) TO it is the
    plan of their query. A subquery that is computed once for several uses has its own row.
    """
    span = _query_in(statement, execution)
    execution = replace(execution, dry=not statement.analyze)
    planner = execution.planner()
    words = ["EXPLAIN", "ANALYZE" * statement.analyze, "VERBOSE" * statement.verbose, _format_clause(statement)]
    body = planner.rewrite(statement, span)
    plan = prepare(planner.plan(" ".join(w for w in words if w) + " " + body.text, statement), execution)
    rows = execution.read(plan)
    return Result(plan.schema, _with_shared_subqueries(plan.schema, plan.computed, rows) if plan.computed else rows)


def _with_shared_subqueries(
    schema: pa.Schema, computed: Sequence[Computed], plans: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The plans of shared subqueries, which run first, and then the others."""
    rows = [(f"computed once: {c.name}", c.told()) for c in computed]
    columns = [pa.array(column, f.type) for column, f in zip(zip(*rows, strict=True), schema, strict=True)]
    yield pa.record_batch(columns, schema=schema)
    yield from plans


def _format_clause(statement: Explain) -> str:
    if statement.format is None:
        return ""
    known = _PLAN_FORMATS.get(statement.format.upper())
    if known is None:
        raise InvalidArgument(f"EXPLAIN has no format {statement.format}; available: TEXT, TREE, JSON, GRAPHVIZ")
    return f"FORMAT {known}"


_JSON_SCHEMA = pa.schema([("plan", pa.string())])


def explain_full(statement: ExplainFull, execution: Execution) -> Result:
    """EXPLAIN [ANALYZE] FULL [FORMAT JSON] query: shows the files of each table that the query reads and why, cache
    hits, and each operator with its estimates. ANALYZE runs the query and adds measurements.

    For INSERT, CREATE TABLE AS and COPY … TO it explains their query and does not execute the change.
    """
    from pinakes.engine.explain.collect import Explaining
    from pinakes.engine.explain.rows import SCHEMA

    format = (statement.format or "TEXT").upper()
    if format not in ("TEXT", "JSON"):
        raise InvalidArgument(f"EXPLAIN FULL has no format {format}; available: TEXT, JSON")
    is_json = format == "JSON"
    explaining = Explaining.of(execution, statement, _query_in(statement, execution), analyze=statement.analyze)
    return Result(_JSON_SCHEMA if is_json else SCHEMA, _explained_rows(explaining, is_json=is_json))


def _explained_rows(explaining: Explaining, *, is_json: bool) -> Iterator[pa.RecordBatch]:
    """Runs the query, for ANALYZE, when the result is read; it is planned before."""
    from pinakes.engine.explain.document import document
    from pinakes.engine.explain.rows import SCHEMA, rows

    if explaining.analyzed:
        explaining.run()
    facts = explaining.facts()
    if is_json:
        yield pa.record_batch([pa.array([document(facts)])], schema=_JSON_SCHEMA)
        return
    columns = zip(*rows(facts), strict=True)
    yield pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)


def _query_in(statement: Explain | ExplainFull, execution: Execution) -> Span:
    """The span of the query to explain: the one given, or the one in an INSERT, CREATE TABLE AS or COPY … TO. The
    change itself is never run."""
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
