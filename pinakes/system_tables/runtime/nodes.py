"""system.runtime.nodes: the processes that run queries: this one, and the executors of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable, always_null
from pinakes.system_tables.runtime_state import NodeInfo


def _rows(request: Request) -> Iterable[NodeInfo]:
    return [request.context.runtime.node(), *request.context.runtime.other_nodes()]


TABLE: SystemTable[NodeInfo] = SystemTable(
    name="nodes",
    doc="One row for this process, and one for each Spark executor.",
    columns=(
        Column("node_id", TEXT, "local for this process, host:port for a Spark executor", lambda n: n.node_id),
        always_null("http_uri", TEXT),
        Column("node_version", TEXT, "Version of Pinakes or Spark", lambda n: n.version),
        Column(
            "coordinator",
            TRUTH,
            "Whether clients connect to the node; true only for this process",
            lambda n: n.coordinator,
        ),
        Column("state", TEXT, "active, or shutdown for an executor that has stopped", lambda n: n.state),
        Column("started", MOMENT, "Start time", lambda n: n.started),
        Column("processors", NUMBER, "Number of processors, or of concurrent tasks", lambda n: n.processors),
        Column("memory_limit_bytes", NUMBER, "Memory limit of all queries in bytes", lambda n: n.memory_limit),
    ),
    items=_rows,
)
