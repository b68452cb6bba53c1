"""system.runtime.tasks: the tasks of statements. A local statement is one task, listed when it has ended; one on Spark
has Spark's tasks, listed while they run and afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column, Request, SystemTable, always_null
from pinakes.system_tables.runtime_state import QueryInfo, TaskInfo, visible

LOCAL = "local"
"""The id of this process among the nodes."""

ENDED = frozenset({"FINISHED", "FAILED", "CANCELED"})


class Task(NamedTuple):
    node_id: str
    task_id: str
    stage_id: str
    query_id: str
    state: str
    milliseconds: int
    shuffled_bytes: int
    rows: int | None
    bytes: int | None
    output_bytes: int
    output_rows: int
    created: datetime
    started: datetime | None
    ended: datetime | None

    @property
    def running(self) -> int:
        return int(self.state == "RUNNING")

    @property
    def waiting(self) -> int:
        return int(self.state == "PLANNED")


def _rows(request: Request) -> Iterable[Task]:
    runtime, identity = request.context.runtime, request.context.identity
    over = [q for q in visible(runtime.queries(), identity) if q.state in ENDED and q.engine == LOCAL]
    return [*(_here(query) for query in over), *(_there(task) for task in visible(runtime.other_tasks(), identity))]


def _here(query: QueryInfo) -> Task:
    """Returns the task of a local statement."""
    stage, ran = f"{query.query_id}.0", round(sum(query.seconds.values()) * 1000)
    return Task(
        *(LOCAL, f"{stage}.0", stage, query.query_id, str(query.state), ran, 0, query.work.rows, query.work.bytes),
        *(query.bytes, query.rows, query.created, query.started, query.ended),
    )


def _there(task: TaskInfo) -> Task:
    return Task(
        *(task.node_id, task.task_id, task.stage_id, task.query_id, task.state, task.milliseconds),
        *(task.shuffled_bytes, task.rows, task.bytes, task.output_bytes, task.output_rows),
        *(task.created, task.created, task.ended),
    )


TABLE: SystemTable[Task] = SystemTable(
    name="tasks",
    doc=(
        "One row per finished local statement, and one per running or finished Spark task: your own, or those of "
        "all users for an administrator."
    ),
    columns=(
        Column("node_id", TEXT, "Node of the task: local, or host:port of an executor", lambda t: t.node_id),
        Column("task_id", TEXT, "Id of the task", lambda t: t.task_id),
        Column("stage_id", TEXT, "Id of the stage", lambda t: t.stage_id),
        Column("query_id", TEXT, "Id of the statement", lambda t: t.query_id),
        Column("state", TEXT, "PLANNED, RUNNING, FINISHED, FAILED or CANCELED", lambda t: t.state),
        Column("splits", NUMBER, "Number of splits; always 1", lambda t: 1),
        Column("queued_splits", NUMBER, "Number of queued splits", lambda t: t.waiting),
        Column("running_splits", NUMBER, "Number of running splits", lambda t: t.running),
        Column("completed_splits", NUMBER, "Number of completed splits", lambda t: 1 - t.running - t.waiting),
        Column("split_scheduled_time_ms", NUMBER, "Run time in milliseconds", lambda t: t.milliseconds),
        always_null("split_cpu_time_ms", NUMBER),
        always_null("split_blocked_time_ms", NUMBER),
        Column("internal_network_input_bytes", NUMBER, "Bytes received from other tasks", lambda t: t.shuffled_bytes),
        Column("processed_input_bytes", NUMBER, "Bytes read by scans", lambda t: t.bytes),
        Column("processed_input_rows", NUMBER, "Rows received from scans or other tasks", lambda t: t.rows),
        Column("output_bytes", NUMBER, "Approximate size of the result in memory in bytes", lambda t: t.output_bytes),
        Column("output_rows", NUMBER, "Number of result rows", lambda t: t.output_rows),
        Column("physical_input_bytes", NUMBER, "Bytes read by scans", lambda t: t.bytes),
        always_null("physical_written_bytes", NUMBER),
        Column("created", MOMENT, "Time at which the statement arrived or the task was created", lambda t: t.created),
        Column("start", MOMENT, "Start time", lambda t: t.started),
        always_null("last_heartbeat", MOMENT),
        Column("end", MOMENT, "End time; NULL while it is running", lambda t: t.ended),
    ),
    items=_rows,
)
