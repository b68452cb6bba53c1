"""system.runtime.queries: one row per statement, while it runs and for a while after."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column, Request, SystemTable, always_null
from pinakes.system_tables.error_types import error_type
from pinakes.system_tables.runtime_state import QueryInfo, visible

TEXTS = pa.list_(TEXT)


def _rows(request: Request) -> Iterable[QueryInfo]:
    return visible(request.world.runtime.queries(), request.world.identity)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _spent(*phases: str) -> Callable[[QueryInfo], int]:
    return lambda q: _milliseconds(sum(q.seconds.get(phase, 0.0) for phase in phases))


def _queued(query: QueryInfo) -> int:
    """Returns the queued time; a statement that has not started has been queued all the time."""
    if query.started is None:
        return _milliseconds(query.elapsed)
    return _milliseconds((query.started - query.created).total_seconds())


TABLE: SystemTable[QueryInfo] = SystemTable(
    name="queries",
    doc="One row per statement that runs or ran lately: your own, or everybody's for an administrator. "
    "KILL QUERY 'query_id' stops one.",
    columns=(
        Column("query_id", TEXT, "Id of the statement, by which KILL QUERY stops it", lambda q: q.query_id),
        Column("state", TEXT, "QUEUED, PLANNING, RUNNING, FINISHED, FAILED or CANCELED", lambda q: str(q.state)),
        Column("user", TEXT, "User who runs it", lambda q: q.user),
        Column("source", TEXT, "Program that it came from; NULL when that did not say", lambda q: q.source or None),
        Column("query", TEXT, "Its text, with the values of secrets masked", lambda q: q.shown),
        Column("resource_group_id", TEXTS, "Always NULL: there are no resource groups", lambda q: None),
        Column("queued_time_ms", NUMBER, "Milliseconds before it was begun", _queued),
        Column(
            "analysis_time_ms", NUMBER, "Milliseconds to parse it and to find what it names", _spent("parse", "resolve")
        ),
        Column("planning_time_ms", NUMBER, "Milliseconds to plan it", _spent("plan")),
        Column("created", MOMENT, "When it came in", lambda q: q.created),
        Column("started", MOMENT, "When it was begun", lambda q: q.started),
        always_null("last_heartbeat", MOMENT),
        Column("end", MOMENT, "When it ended; NULL while it runs", lambda q: q.ended),
        Column(
            "error_type",
            TEXT,
            "USER_ERROR, EXTERNAL, INSUFFICIENT_RESOURCES or INTERNAL_ERROR; NULL without error",
            lambda q: error_type(q.error_code),
        ),
        Column("error_code", TEXT, "Code of the error that ended it", lambda q: q.error_code),
        Column("error_message", TEXT, "What that error says", lambda q: q.error_message),
        Column("parse_time_ms", NUMBER, "Milliseconds to parse it", _spent("parse")),
        Column("resolve_time_ms", NUMBER, "Milliseconds to find what it names", _spent("resolve")),
        Column("execution_time_ms", NUMBER, "Milliseconds that it was executed for, so far", _spent("execute")),
        Column(
            "elapsed_time_ms",
            NUMBER,
            "Milliseconds since it came in, until its end or now",
            lambda q: _milliseconds(q.elapsed),
        ),
        Column("statement_kind", TEXT, "Kind of the statement; NULL until it is parsed", lambda q: q.kind or None),
        Column("catalogs", TEXTS, "Catalogs that it reads or changes", lambda q: list(q.catalogs)),
        Column("input_rows", NUMBER, "Rows that its scans gave, so far; NULL without a scan", lambda q: q.work.rows),
        Column(
            "input_bytes",
            NUMBER,
            "Bytes that its scans read of files, so far; NULL when they do not tell",
            lambda q: q.work.bytes,
        ),
        Column("output_rows", NUMBER, "Rows that it gave, so far", lambda q: q.rows),
        Column("output_bytes", NUMBER, "Bytes of these in memory, about", lambda q: q.bytes),
        Column(
            "written_rows",
            NUMBER,
            "Rows that it inserted, changed or deleted; NULL for what changes no rows",
            lambda q: q.written,
        ),
        Column(
            "peak_memory_bytes",
            NUMBER,
            "Bytes that its joins held; what sorts and aggregations hold is not told; NULL without a join",
            lambda q: q.work.held,
        ),
        Column(
            "spilled_bytes",
            NUMBER,
            "Bytes that it wrote aside for want of memory; NULL when nothing tells",
            lambda q: q.work.spilled,
        ),
        Column(
            "plan_summary",
            TEXT,
            "Operators of its plan, from the top down; NULL for what is not planned",
            lambda q: q.plan,
        ),
        Column("engine", TEXT, "Engine that runs it: local, or spark", lambda q: q.engine),
        Column(
            "progress",
            TEXT,
            "How far another engine is with it; NULL when it runs here, or is over",
            lambda q: q.progress or None,
        ),
    ),
    items=_rows,
)
