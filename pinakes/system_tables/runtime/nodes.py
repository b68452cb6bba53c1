"""system.runtime.nodes: the processes that run queries: this one, and the executors of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable, always_null
from pinakes.system_tables.runtime_state import NodeInfo


def _rows(request: Request) -> Iterable[NodeInfo]:
    return [request.world.runtime.node(), *request.world.runtime.other_nodes()]


TABLE: SystemTable[NodeInfo] = SystemTable(
    name="nodes",
    doc="One row for this process, and one for each process of a Spark that was started or asked to run a statement.",
    columns=(
        Column("node_id", TEXT, "local for this process; host:port of an executor of Spark", lambda n: n.node_id),
        always_null("http_uri", TEXT),
        Column("node_version", TEXT, "Version of Pinakes, or Spark and its version", lambda n: n.version),
        Column("coordinator", TRUTH, "Whether clients talk to it: this process alone", lambda n: n.coordinator),
        Column("state", TEXT, "active; shutdown for an executor that is gone", lambda n: n.state),
        Column("started", MOMENT, "When it was started", lambda n: n.started),
        Column("processors", NUMBER, "Processors, or tasks at the same time, that it may use", lambda n: n.processors),
        Column("memory_limit_bytes", NUMBER, "Memory that all queries together may take", lambda n: n.memory_limit),
    ),
    items=_rows,
)
