"""system.runtime.tasks: the parts of a statement. One that ran here is one task, told when it is over."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column, Request, SystemTable, always_null
from pinakes.system_tables.runtime_state import QueryInfo, visible

LOCAL = "local"
"""The id of the only node."""

ENDED = frozenset({"FINISHED", "FAILED", "CANCELED"})


def _rows(request: Request) -> Iterable[QueryInfo]:
    return [q for q in visible(request.world.runtime.queries(), request.world.identity) if q.state in ENDED]


def _one(_: QueryInfo) -> int:
    return 1


def _none(_: QueryInfo) -> int:
    return 0


def _ran(query: QueryInfo) -> int:
    return round(sum(query.seconds.values()) * 1000)


TABLE: SystemTable[QueryInfo] = SystemTable(
    name="tasks",
    doc="One row per statement that ran on this machine and is over: your own, or everybody's for an administrator.",
    columns=(
        Column("node_id", TEXT, "Node that it ran on", lambda q: LOCAL),
        Column("task_id", TEXT, "Id of the task", lambda q: f"{q.query_id}.0.0"),
        Column("stage_id", TEXT, "Id of the stage that it is of", lambda q: f"{q.query_id}.0"),
        Column("query_id", TEXT, "Id of the statement", lambda q: q.query_id),
        Column("state", TEXT, "FINISHED, FAILED or CANCELED", lambda q: str(q.state)),
        Column("splits", NUMBER, "Parts of the task: always one", _one),
        Column("queued_splits", NUMBER, "Parts that wait: none", _none),
        Column("running_splits", NUMBER, "Parts that run: none", _none),
        Column("completed_splits", NUMBER, "Parts that are over: one", _one),
        Column("split_scheduled_time_ms", NUMBER, "Milliseconds that it ran", _ran),
        always_null("split_cpu_time_ms", NUMBER),
        always_null("split_blocked_time_ms", NUMBER),
        Column("internal_network_input_bytes", NUMBER, "Bytes from other nodes: none", _none),
        Column("processed_input_bytes", NUMBER, "Bytes that scans read of files", lambda q: q.work.bytes),
        Column("processed_input_rows", NUMBER, "Rows that scans gave", lambda q: q.work.rows),
        Column("output_bytes", NUMBER, "Bytes of its result in memory, about", lambda q: q.bytes),
        Column("output_rows", NUMBER, "Rows of its result", lambda q: q.rows),
        Column("physical_input_bytes", NUMBER, "Bytes that scans read of files", lambda q: q.work.bytes),
        always_null("physical_written_bytes", NUMBER),
        Column("created", MOMENT, "When the statement came in", lambda q: q.created),
        Column("start", MOMENT, "When it was begun", lambda q: q.started),
        always_null("last_heartbeat", MOMENT),
        Column("end", MOMENT, "When it ended", lambda q: q.ended),
    ),
    items=_rows,
)
