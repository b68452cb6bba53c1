"""system.runtime.queries: one row per statement, while it runs and for a while after."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column, Request, SystemTable, always_null
from pinakes.system_tables.error_types import error_type
from pinakes.system_tables.runtime_state import QueryInfo, visible

TEXTS = pa.list_(TEXT)


def _rows(request: Request) -> Iterable[QueryInfo]:
    return visible(request.context.runtime.queries(), request.context.identity)


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
    doc="One row per running or recent statement: your own, or those of all users for an administrator. "
    "KILL QUERY 'query_id' cancels a statement.",
    columns=(
        Column("query_id", TEXT, "Id of the statement, for KILL QUERY", lambda q: q.query_id),
        Column("state", TEXT, "QUEUED, PLANNING, RUNNING, FINISHED, FAILED or CANCELED", lambda q: str(q.state)),
        Column("user", TEXT, "User who runs the statement", lambda q: q.user),
        Column("source", TEXT, "Client program; NULL if unknown", lambda q: q.source or None),
        Column("query", TEXT, "Text of the statement with secrets redacted", lambda q: q.shown),
        Column("resource_group_id", TEXTS, "Always NULL; there are no resource groups", lambda q: None),
        Column("queued_time_ms", NUMBER, "Time in the queue in milliseconds", _queued),
        Column(
            "analysis_time_ms",
            NUMBER,
            "Time to parse the statement and resolve names in milliseconds",
            _spent("parse", "resolve"),
        ),
        Column("planning_time_ms", NUMBER, "Time to plan the statement in milliseconds", _spent("plan")),
        Column("created", MOMENT, "Time of arrival", lambda q: q.created),
        Column("started", MOMENT, "Start time", lambda q: q.started),
        always_null("last_heartbeat", MOMENT),
        Column("end", MOMENT, "End time; NULL while it is running", lambda q: q.ended),
        Column(
            "error_type",
            TEXT,
            "USER_ERROR, EXTERNAL, INSUFFICIENT_RESOURCES or INTERNAL_ERROR; NULL without error",
            lambda q: error_type(q.error_code),
        ),
        Column("error_code", TEXT, "Error code", lambda q: q.error_code),
        Column("error_message", TEXT, "Error message", lambda q: q.error_message),
        Column("parse_time_ms", NUMBER, "Time to parse the statement in milliseconds", _spent("parse")),
        Column("resolve_time_ms", NUMBER, "Time to resolve names in milliseconds", _spent("resolve")),
        Column("execution_time_ms", NUMBER, "Execution time so far in milliseconds", _spent("execute")),
        Column(
            "elapsed_time_ms",
            NUMBER,
            "Time from arrival to the end, or to now, in milliseconds",
            lambda q: _milliseconds(q.elapsed),
        ),
        Column("statement_kind", TEXT, "Kind of the statement; NULL until it is parsed", lambda q: q.kind or None),
        Column("catalogs", TEXTS, "Catalogs that the statement reads or changes", lambda q: list(q.catalogs)),
        Column("input_rows", NUMBER, "Rows read by scans so far; NULL without a scan", lambda q: q.work.rows),
        Column(
            "input_bytes",
            NUMBER,
            "Bytes read by scans so far; NULL if unknown",
            lambda q: q.work.bytes,
        ),
        Column("output_rows", NUMBER, "Rows returned so far", lambda q: q.rows),
        Column("output_bytes", NUMBER, "Approximate size of these rows in memory in bytes", lambda q: q.bytes),
        Column(
            "written_rows",
            NUMBER,
            "Rows inserted, changed or deleted; NULL for statements that change no rows",
            lambda q: q.written,
        ),
        Column(
            "peak_memory_bytes",
            NUMBER,
            "Peak memory of joins in bytes; sorts and aggregations are not included; NULL without a join",
            lambda q: q.work.held,
        ),
        Column(
            "spilled_bytes",
            NUMBER,
            "Bytes spilled to disk; NULL if unknown",
            lambda q: q.work.spilled,
        ),
        Column(
            "plan_summary",
            TEXT,
            "Operators of the plan from the top down; NULL for statements without a plan",
            lambda q: q.plan,
        ),
        Column("engine", TEXT, "Engine of the statement: local or spark", lambda q: q.engine),
        Column(
            "progress",
            TEXT,
            "Progress on another engine; NULL for local and finished statements",
            lambda q: q.progress or None,
        ),
    ),
    items=_rows,
)
